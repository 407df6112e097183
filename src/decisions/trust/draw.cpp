#include "decisions/trust/draw.h"

#include <cstring>

#include "common/base/check.h"
#include "common/crypto/sha256.h"

namespace weft::trust {

std::uint64_t draw_bits(const Secret& secret, Purpose purpose, const TaskId& task,
                        const PublicKey& worker, std::uint64_t number) {
  ByteVector message;
  message.reserve(93);
  append(message, secret.bytes);
  message.push_back(static_cast<std::uint8_t>(purpose));
  append(message, task.job.bytes);
  append_le(message, task.index);
  append(message, worker.bytes);
  append_le(message, number);
  const Hash hash = crypto::sha256(message);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof bits; ++i)
    bits |= static_cast<std::uint64_t>(hash.bytes[i]) << (8 * i);
  return bits;
}

double draw(const Secret& secret, Purpose purpose, const TaskId& task, const PublicKey& worker,
            std::uint64_t number) {
  return static_cast<double>(draw_bits(secret, purpose, task, worker, number) >> 11) * 0x1p-53;
}

std::uint64_t draw_below(std::uint64_t count, const Secret& secret, Purpose purpose,
                         const TaskId& task, const PublicKey& worker, std::uint64_t number) {
  check(count > 0, "something is drawn from at least one");
  return draw_bits(secret, purpose, task, worker, number) % count;
}

}  // namespace weft::trust
