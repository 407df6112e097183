// A proof that a lease was given. Leases are not durable: after a restart or a broken connection
// only the worker's word is left, and a worker that could claim any task would choose which results
// of an accomplice it checks.
//
// The proof is SHA-256 over the coordinator's secret, the attempt and the worker. The hashed text
// has one fixed length that differs from that of a draw (trust/draw.h). The coordinator computes an
// equal proof after a restart, and no worker can make one. It goes out with the lease and comes
// back in Resume.
#pragma once

#include <cstdint>

#include "common/base/ids.h"
#include "decisions/trust/draw.h"

namespace weft::jobs {

// The kind of a lease. A lease for an audit or a trap looks like any other lease, with a proof; but
// the proof of an `extra` lease gives no right to the task.
enum class LeaseKind : std::uint8_t { task = 16, extra = 17 };

[[nodiscard]] Hash lease_proof(const trust::Secret& secret, LeaseKind kind, const TaskId& task,
                               std::uint32_t attempt, const PublicKey& worker);

}  // namespace weft::jobs
