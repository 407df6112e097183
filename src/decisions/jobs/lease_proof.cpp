#include "decisions/jobs/lease_proof.h"

#include "common/crypto/hmac.h"

namespace weft::jobs {

Hash lease_proof(const trust::Secret& secret, LeaseKind kind, const TaskId& task,
                 std::uint32_t attempt, const PublicKey& worker) {
  ByteVector message;
  message.push_back(static_cast<std::uint8_t>(kind));
  append(message, task.job.bytes);
  append_le(message, task.index);
  append_le(message, attempt);
  append(message, worker.bytes);
  return crypto::hmac_sha256(secret.bytes, message);
}

}  // namespace weft::jobs
