// The runs in which the ranges of one check are computed. A run that takes too long, or is expected
// to, is replaced by smaller ones, which come after those that are planned. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "decisions/jobs/world.h"

namespace weft::coordinator {

class RunPlan {
 public:
  // `ranges`: those that are checked; `runs`: what is run for them at first. The order outlives
  // this.
  RunPlan(const jobs::VerifyOrder& order, std::vector<manifest::Range> ranges,
          std::vector<manifest::Range> runs);

  // The next run; nothing after the last.
  [[nodiscard]] std::optional<manifest::Range> next();
  // Plans smaller runs in the place of `run`. Several parts are run one by one, since what lies
  // between them may be what fails or takes too long; a single one in pieces of at most `most`
  // workgroups (0: it is not cut). False: it is as small as it may be.
  [[nodiscard]] bool split(manifest::Range run, std::uint32_t most);

  [[nodiscard]] const std::vector<manifest::Range>& ranges() const { return ranges_; }

 private:
  const jobs::VerifyOrder& order_;
  const std::vector<manifest::Range> ranges_;
  std::vector<manifest::Range> runs_;
  std::size_t at_ = 0;
};

}  // namespace weft::coordinator
