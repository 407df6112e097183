// The interface with which the verifier computes parts of strangers' jobs. The command line
// provides an implementation (apps/cli/commands/part_runner.h), tests provide their own.
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

// The part of a job that one run computes.
struct PartRun {
  manifest::Range range;
  // The first step to run and the number of steps, if the job has several steps and cannot be cut.
  // A step_count of 0 runs all steps. The outputs begin with `state`, the outputs of the steps
  // before step_first; if it is null, they begin with the data that the job names.
  std::uint32_t step_first = 0;
  std::uint32_t step_count = 0;
  std::shared_ptr<const std::vector<ByteVector>> state{};
};

// Runs parts of strangers' jobs in a confined process. Threading: the thread that makes the first
// call owns the runner.
class PartRunner {
 public:
  struct Ran {
    std::vector<ByteVector> outputs;  // The outputs of the range that was run.
    double seconds = 0;
    double rate = 1;  // Speed of the device relative to the reference.
  };
  virtual ~PartRunner() = default;
  // Runs a range. Fails with deadline_exceeded if it takes longer than `wall_max`, and with
  // unavailable if no device exists.
  [[nodiscard]] virtual Result<Ran> run(const std::shared_ptr<const VerifiedJob>& job,
                                        const PartRun& part, Duration wall_max) = 0;
  // Ends the process because no work is waiting.
  virtual void rest() = 0;
  // The vendor of the device; empty before the first run.
  [[nodiscard]] virtual std::string vendor() const { return {}; }
  // A new runner on a device of this machine with another driver; null if there is none.
  [[nodiscard]] virtual std::unique_ptr<PartRunner> on_another_device() { return nullptr; }
};
using PartRunnerFactory = std::function<std::unique_ptr<PartRunner>()>;

}  // namespace weft::coordinator
