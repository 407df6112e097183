// Leases that the scheduler does not know of, so that they take no replica's place: what audits,
// traps and polls have in common.
#pragma once

#include <string>

#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

// A range of a task, under extra_attempt (audits.h). Nothing where its job does not run.
void lease_extra(CoreTables& tables, const PublicKey& worker, const TaskId& task,
                 manifest::Range range);
// What the worker still hands in is too late.
void cancel_extra(CoreTables& tables, const PublicKey& worker, const TaskId& task,
                  std::string reason);

// What a replica of one of the job's tasks is worth; 0 before the canary has passed.
[[nodiscard]] MicroCredits replica_value(const CoreTables& tables, const RunningJob& job);

}  // namespace weft::jobs
