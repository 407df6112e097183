// What computes parts of strangers' jobs for the coordinator's verifier; the wiring brings one
// (apps/cli/commands/part_runner.h), tests theirs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/coordinator/ingest/verified_jobs.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/manifest/split.h"

namespace weft::coordinator {

// What one run computes of a job.
struct PartRun {
  manifest::Range range;
  // So many steps from step_first on, if the job has several and cannot be cut; 0: all of them.
  // Outputs begin with `state`, as the run of the steps before gave it; null: with what the job
  // says.
  std::uint32_t step_first = 0;
  std::uint32_t step_count = 0;
  std::shared_ptr<const std::vector<ByteVector>> state{};
};

// Runs parts of strangers' jobs, confined. Threading: one thread, which owns it from its first call
// on.
class PartRunner {
 public:
  struct Ran {
    std::vector<ByteVector> outputs;  // Outputs of the range.
    double seconds = 0;
    double rate = 1;  // The device's, relative to the reference, as measured here.
  };
  virtual ~PartRunner() = default;
  // deadline_exceeded: it takes longer than `wall_max`; unavailable: there is no device.
  [[nodiscard]] virtual Result<Ran> run(const std::shared_ptr<const VerifiedJob>& job,
                                        const PartRun& part, Duration wall_max) = 0;
  // Nothing is asked for now: lets go of the process.
  virtual void rest() = 0;
  // The vendor of its device; empty before the first run.
  [[nodiscard]] virtual std::string vendor() const { return {}; }
  // A runner on a device of this machine with another driver, owned by the caller; null without
  // one.
  [[nodiscard]] virtual std::unique_ptr<PartRunner> on_another_device() { return nullptr; }
};
using PartRunnerFactory = std::function<std::unique_ptr<PartRunner>()>;

}  // namespace weft::coordinator
