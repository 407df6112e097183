#include "apps/coordinator/lease_proof.h"

#include "common/crypto/sha256.h"

namespace weft::coordinator {

Hash lease_proof(const trust::Secret& secret, LeaseKind kind, const TaskId& task, std::uint32_t attempt, const PublicKey& worker) {
  ByteVector message;
  message.reserve(89);
  append(message, secret.bytes);
  message.push_back(static_cast<std::uint8_t>(kind));
  append(message, task.job.bytes);
  append_le(message, task.index);
  append_le(message, attempt);
  append(message, worker.bytes);
  return crypto::sha256(message);
}

}  // namespace weft::coordinator
