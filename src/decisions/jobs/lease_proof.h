// What shows that a lease was given: leases are not durable, so that after a restart (or a broken
// connection) the worker's word is all there is, and a worker that could claim any task would
// choose what it checks of an accomplice's.
//
// SHA-256 over the coordinator's secret, the attempt and the worker, of one fixed length that
// differs from a draw's (trust/draw.h): the same after a restart, and no worker can make one. It
// goes out with the lease and comes back in Resume.
#pragma once

#include <cstdint>

#include "common/base/ids.h"
#include "decisions/trust/draw.h"

namespace weft::jobs {

// Audits and traps look like any other lease, proof included; but theirs gives no right to the
// task.
enum class LeaseKind : std::uint8_t { task = 16, extra = 17 };

[[nodiscard]] Hash lease_proof(const trust::Secret& secret, LeaseKind kind, const TaskId& task,
                               std::uint32_t attempt, const PublicKey& worker);

}  // namespace weft::jobs
