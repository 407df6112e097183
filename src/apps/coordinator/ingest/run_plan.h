// The runs that compute the ranges of one check. A run that takes too long, or is expected to, is
// replaced by smaller ones, which are queued after the planned runs. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "decisions/jobs/world.h"

namespace weft::coordinator {

class RunPlan {
 public:
  // `ranges` are the ranges to check; `runs` are the first runs for them. `order` must outlive this
  // object.
  RunPlan(const jobs::VerifyOrder& order, std::vector<manifest::Range> ranges,
          std::vector<manifest::Range> runs);

  // The next run; empty after the last.
  [[nodiscard]] std::optional<manifest::Range> next();
  // Replaces `run` with smaller runs. If the run covers several ranges, each range gets a run of
  // its own, because the work between them may be what fails or takes too long. A run of one range
  // is cut into pieces of at most `most` workgroups (0: not cut). Returns false if the run cannot
  // be cut further.
  [[nodiscard]] bool split(manifest::Range run, std::uint32_t most);

  [[nodiscard]] const std::vector<manifest::Range>& ranges() const { return ranges_; }

 private:
  const jobs::VerifyOrder& order_;
  const std::vector<manifest::Range> ranges_;
  std::vector<manifest::Range> runs_;
  std::size_t at_ = 0;
};

}  // namespace weft::coordinator
