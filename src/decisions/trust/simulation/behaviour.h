// How simulated workers answer. Cheats know the policy, their own reputation and what their
// accomplices have answered; they do not know the coordinator's secret, whether they work alone,
// nor whether a lease is a trap.
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
  random,   // Wrong now and then from its first task on, in its own way.
  sleeper,  // Honest until its reputation is high, then always wrong.
  lazy,  // Once it is believed alone, leaves some parts of some tasks out and returns garbage for
         // them.
  colluding,  // Once it is believed, wrong as often as not; accomplices repeat and confirm each
              // other's answers.
  sybil,  // A fresh wallet: always wrong, and of one mind with all others of its kind. A new one
          // takes the place of each that is suspended.
};
inline constexpr std::array<std::string_view, 6> kind_names{"honest", "random",    "sleeper",
                                                            "lazy",   "colluding", "sybil"};

// Answers have this many parts; audits look at one of as many or fewer.
inline constexpr std::uint32_t answer_parts = 32;

struct Cheating {
  double from_reputation = 0;
  double rate = 0;  // Share of tasks that it cheats on.
  std::uint32_t parts_wrong = answer_parts;
};
[[nodiscard]] Cheating cheating_of(Kind kind);

struct Answer {
  Hash root;
  std::uint32_t wrong = 0;  // A bit for each part.
  [[nodiscard]] bool right() const { return wrong == 0; }
};

[[nodiscard]] Hash right_root(const TaskId& task);

// What the accomplices have agreed on for each task, as soon as one of them has answered it.
using Pact = std::unordered_map<TaskId, Answer>;

// What a worker returns for a whole task.
[[nodiscard]] Answer answer(Kind kind, std::uint32_t worker, double reputation, const TaskId& task,
                            Pact& pact, std::mt19937_64& random);

// Whether an auditor's part agrees with the suspect's answer. Accomplices see nothing wrong with
// each other's.
struct AuditRole {
  Kind kind = Kind::honest;
  double reputation = 0;
};
[[nodiscard]] bool audit_agrees(const AuditRole& auditor, Kind suspect, const Answer& suspected,
                                std::uint32_t part, std::mt19937_64& random);

// Uniform in [0, 1).
[[nodiscard]] inline double chance(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

}  // namespace weft::trust::simulation
