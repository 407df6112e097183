// Orders for the coordinator's verifier: a paid task is computed again.
#pragma once

#include <memory>
#include <vector>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/paid_tables.h"

namespace weft::jobs {

// The whole task in parts, as samples are: a verifier takes none that lasts too long for it.
[[nodiscard]] std::vector<manifest::Range> recheck_parts(const PaidTask& paid);

// `waits_for_second`: as VerifyOrder has it.
void order_recheck(CoreTables& tables, const PaidTask& paid, bool waits_for_second);
// For this worker; nothing is ordered where the task is being computed already.
void order_recheck(CoreTables& tables, Rechecks& rechecks, const PublicKey& worker,
                   const std::shared_ptr<const PaidTask>& paid);

}  // namespace weft::jobs
