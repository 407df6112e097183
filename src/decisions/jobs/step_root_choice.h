// Decides which leases ask their workers for a root after each group of steps. A worker reads back
// and hashes all outputs for each root, so that a lease asks only if a check of groups saves more.
//
// Threading: one thread.
#pragma once

#include <cstdint>

#include "decisions/jobs/canary_measures.h"
#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

class StepRootChoice {
 public:
  // Checks of tasks that take the verifier no longer than this are not worth roots.
  static constexpr double check_seconds_max = 5;
  // A worker reads and hashes outputs at this rate, in bytes for each second.
  static constexpr double hashed_per_second = 1e9;
  // Roots that take a worker no more than this share of its time are always worth it.
  static constexpr double share_max = 0.01;

  StepRootChoice(const CoreTables& tables, const CanaryMeasures& canaries)
      : tables_(tables), canaries_(canaries) {}

  // True if a lease of the task to this worker asks for roots. The task begins at its first step,
  // not at a checkpoint.
  [[nodiscard]] bool asks(const RunningJob& job, const ConnectedWorker& worker, std::uint32_t index,
                          Moment now) const;

 private:
  // True if a check of this worker's result computes groups of steps, or may do so.
  [[nodiscard]] bool is_checked_by_groups(const RunningJob& job, const ConnectedWorker& worker,
                                          Moment now) const;
  [[nodiscard]] bool is_worth_it(const RunningJob& job, const ConnectedWorker& worker,
                                 std::uint32_t index) const;

  const CoreTables& tables_;
  const CanaryMeasures& canaries_;
};

}  // namespace weft::jobs
