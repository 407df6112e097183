// The choices of an audit: which workers may do it, and which parts of a result the coordinator's
// verifier computes.
#pragma once

#include <vector>

#include "decisions/jobs/audits.h"
#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

// Connected workers that can run the job, have no part in the task and were not asked yet. If the
// audit needs a trusted auditor, only native workers that are not newcomers qualify, and not those
// of the suspect's owner or of the owners whose workers second the audit. A root is exempt from the
// rule about owners, because its word counts alone.
[[nodiscard]] std::vector<PublicKey> possible_auditors(CoreTables& tables, const Audit& audit,
                                                       const RunningJob& job, Moment now);

// The order for the coordinator's verifier. The parts are drawn now, because the result has
// arrived. The audit remembers the parts and the roots of the rival results in the order.
[[nodiscard]] VerifyOrder verify_order(CoreTables& tables, Audit& audit, const RunningJob& job,
                                       const protocol::TaskResult& suspected);

}  // namespace weft::jobs
