// Functions for leases that the scheduler does not know of, so that they take no replica's place:
// common to audits, traps and polls.
#pragma once

#include <string>

#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

// Leases a range of a task under extra_attempt (audits.h). Does nothing if the job does not run.
void lease_extra(CoreTables& tables, const PublicKey& worker, const TaskId& task,
                 manifest::Range range);
// Cancels the lease: a result that the worker still delivers is too late.
void cancel_extra(CoreTables& tables, const PublicKey& worker, const TaskId& task,
                  std::string reason);

// The price of one replica of one of the job's tasks; 0 before the canary has passed.
[[nodiscard]] MicroCredits replica_value(const CoreTables& tables, const RunningJob& job);

}  // namespace weft::jobs
