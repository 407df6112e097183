// The answers of simulated workers. Cheats know the policy, their own reputation and the answers of
// their accomplices. They do not know the coordinator's secret, whether they run a task alone, or
// whether a lease is a trap.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string_view>
#include <unordered_map>

#include "common/base/ids.h"

namespace weft::trust::simulation {

enum class Kind : std::uint8_t {
  honest,
  random,   // Wrong in half of its tasks from the start, with its own answers.
  sleeper,  // Honest until its reputation is high, then always wrong.
  // Once it is believed alone: skips a quarter of the parts of half of its tasks and returns
  // garbage for them.
  lazy,
  // Once it is believed alone: wrong in half of its tasks. Accomplices repeat and confirm each
  // other's answers.
  colluding,
  // A fresh wallet that is always wrong, with the same answers as all other sybils. A new sybil
  // replaces each one that is suspended.
  sybil,
};
inline constexpr std::array<std::string_view, 6> kind_names{"honest", "random",    "sleeper",
                                                            "lazy",   "colluding", "sybil"};

// The number of parts of an answer. An audit checks one of this many parts, or of fewer.
inline constexpr std::uint32_t answer_parts = 32;

struct Cheating {
  double from_reputation = 0;
  double rate = 0;  // Share of tasks that it cheats on.
  std::uint32_t parts_wrong = answer_parts;
};
[[nodiscard]] Cheating cheating_of(Kind kind);

struct Answer {
  Hash root;
  std::uint32_t wrong = 0;  // One bit for each part, set if the part is wrong.
  [[nodiscard]] bool right() const { return wrong == 0; }
};

[[nodiscard]] Hash right_root(const TaskId& task);

// The answer that accomplices share, for each task. The first accomplice that answers the task sets
// it.
using Pact = std::unordered_map<TaskId, Answer>;

// Returns a worker's answer to a whole task.
[[nodiscard]] Answer answer(Kind kind, std::uint32_t worker, double reputation, const TaskId& task,
                            Pact& pact, std::mt19937_64& random);

// The auditor, as a parameter of audit_agrees(), which returns true if the auditor's part agrees
// with the suspect's answer. Accomplices always agree with each other.
struct AuditRole {
  Kind kind = Kind::honest;
  double reputation = 0;
};
[[nodiscard]] bool audit_agrees(const AuditRole& auditor, Kind suspect, const Answer& suspected,
                                std::uint32_t part, std::mt19937_64& random);

// Draws a number uniformly from [0, 1).
[[nodiscard]] inline double chance(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

}  // namespace weft::trust::simulation
