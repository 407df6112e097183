// What an audit draws: which workers may do it, and which parts of a result the coordinator's
// verifier computes.
#pragma once

#include <vector>

#include "decisions/jobs/audits.h"
#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

// Connected workers that can run the job, have no part in the task and were not asked yet. Where
// only a trusted word counts: native ones that are no newcomers, of other owners than the suspect's
// and those that second it; a root's word counts alone.
[[nodiscard]] std::vector<PublicKey> possible_auditors(CoreTables& tables, const Audit& audit,
                                                       const RunningJob& job, Moment now);

// For the coordinator's verifier. The parts are drawn now, since the result is there; the audit
// remembers them, and the rivals that the order has.
[[nodiscard]] VerifyOrder verify_order(CoreTables& tables, Audit& audit, const RunningJob& job,
                                       const protocol::TaskResult& suspected);

}  // namespace weft::jobs
