// Orders for the coordinator's verifier to compute a paid task again.
#pragma once

#include <memory>
#include <vector>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/paid_tables.h"

namespace weft::jobs {

// The whole task in parts, as samples are checked: a verifier refuses a part that takes too long.
[[nodiscard]] std::vector<manifest::Range> recheck_parts(const PaidTask& paid);

// Orders the recheck of a paid task. `waits_for_second`: see VerifyOrder::waits_for_second.
void order_recheck(CoreTables& tables, const PaidTask& paid, bool waits_for_second);
// Orders the recheck of a paid task for this worker. Does nothing if the task is being computed
// again already.
void order_recheck(CoreTables& tables, Rechecks& rechecks, const PublicKey& worker,
                   const std::shared_ptr<const PaidTask>& paid);

}  // namespace weft::jobs
