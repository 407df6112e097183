// Draws that a worker cannot predict and a restart does not change: each is the SHA-256 of a secret
// of the coordinator and the subject of the draw. The same secret and subject always give the same
// number, so that decisions can be replayed from a seed. A worker that does not know the secret
// learns nothing from the draws it has seen: SHA-256 over a 32-byte key and a message of fixed
// length is a pseudo-random function.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/ids.h"

namespace weft::trust {

// 32 random bytes that are never sent.
using Secret = Hash;

// The decision that a draw is for. Draws for different purposes are independent.
enum class Purpose : std::uint8_t {
  replica = 1,
  audit = 2,
  audit_part = 3,
  auditor = 4,
  trap = 5,
  trap_choice = 6,
  recheck = 7,
  poll = 8,
  groups = 9
};

// Draws uniformly over 64 bits. `number` distinguishes draws of one purpose, task and worker.
[[nodiscard]] std::uint64_t draw_bits(const Secret& secret, Purpose purpose, const TaskId& task,
                                      const PublicKey& worker, std::uint64_t number = 0);
// Draws uniformly from [0, 1).
[[nodiscard]] double draw(const Secret& secret, Purpose purpose, const TaskId& task,
                          const PublicKey& worker, std::uint64_t number = 0);
// Draws uniformly from [0, count), with a bias of at most count / 2^64. `count` is at least 1.
[[nodiscard]] std::uint64_t draw_below(std::uint64_t count, const Secret& secret, Purpose purpose,
                                       const TaskId& task, const PublicKey& worker,
                                       std::uint64_t number = 0);

}  // namespace weft::trust
