// Chance that a worker cannot foresee and a restart does not change: each draw is SHA-256 over a
// secret of the coordinator's and what is drawn for. The same secret and subject always give the
// same number, so decisions replay from a seed, and a worker that does not know the secret learns
// nothing from the draws it has seen (SHA-256 as a pseudo-random function of a 32-byte key before
// a message of one fixed length).
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/ids.h"

namespace weft::trust {

// 32 random bytes, never sent.
using Secret = Hash;

// What is decided by a draw: draws for different purposes are independent.
enum class Purpose : std::uint8_t {
  replica = 1,
  audit = 2,
  audit_part = 3,
  auditor = 4,
  trap = 5,
  trap_choice = 6,
  recheck = 7,
  poll = 8
};

// Uniform over 64 bits. `number` tells draws of one purpose, task and worker apart.
[[nodiscard]] std::uint64_t draw_bits(const Secret& secret, Purpose purpose, const TaskId& task,
                                      const PublicKey& worker, std::uint64_t number = 0);
// Uniform in [0, 1).
[[nodiscard]] double draw(const Secret& secret, Purpose purpose, const TaskId& task,
                          const PublicKey& worker, std::uint64_t number = 0);
// Uniform in [0, count) up to a bias of count / 2^64; `count` is at least 1.
[[nodiscard]] std::uint64_t draw_below(std::uint64_t count, const Secret& secret, Purpose purpose,
                                       const TaskId& task, const PublicKey& worker,
                                       std::uint64_t number = 0);

}  // namespace weft::trust
