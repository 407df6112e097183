// How attackers behave: one class for each strategy, all with the same interface. An attacker knows
// the policy, its own standing and what its accomplices have answered. It knows neither the
// coordinator's secret nor whether a lease is a trap.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string_view>

#include "decisions/trust/attacks/setup.h"

namespace weft::trust::attacks {

using Random = std::mt19937_64;
// Returns a random number, uniform in [0, 1).
[[nodiscard]] inline double chance(Random& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

// The facts that an attacker knows when it is to run a task.
struct Sight {
  double reputation = 0;
  bool established = false;
  double hours = 0;          // Hours since the run began.
  std::uint32_t number = 0;  // The attacker's number, from 0 on.
  std::uint32_t client = 0;  // The job's client; 0 if `own`.
  bool own = false;          // True if the job is an attacker's.
  bool canary = false;
  double price = 0;  // Price of the task, divided by that of the cheapest job.
  std::uint32_t slices = 64;
};

struct Deed {
  enum class Kind : std::uint8_t {
    answers,
    silent,  // Gives no answer: the lease expires.
    fails,   // Reports that the shader is wrong.
  };
  Kind kind = Kind::answers;
  std::uint32_t wrong = 0;  // The number of wrong slices.
  bool one_value = false;   // Only one value is wrong: all other work is done.
  bool invented = false;    // The answer is right, but its states of steps are invented.
  double claims = 1;        // Claimed seconds, relative to the real ones.
};

class Strategy {
 public:
  explicit Strategy(const Plan& plan) : plan_(plan) {}
  Strategy(const Strategy&) = delete;
  virtual ~Strategy() = default;

  [[nodiscard]] virtual Deed on_task(const Sight& sight, Random& random) = 0;
  // True if the attacker, as an auditor, reports that the part is right. By default it confirms all
  // parts of accomplices, and tells the truth about others.
  [[nodiscard]] virtual bool confirms(bool accomplice, bool is_right) {
    return accomplice || is_right;
  }
  // True if the attacker leaves now, with its stake, and comes back with a new wallet.
  [[nodiscard]] virtual bool leaves(double /*hours*/, std::uint32_t /*wrong*/) { return false; }

 protected:
  // In jobs of the plan's target: an answer that is wrong as often and in as many slices as the
  // plan says. In other jobs: an honest answer.
  [[nodiscard]] Deed cheats(const Sight& sight, Random& random) const;

  const Plan plan_;
};

struct Entry {
  std::string_view name;
  std::string_view about;
  Plan (*plan)();  // Returns the default plan.
  std::unique_ptr<Strategy> (*make)(const Plan& plan);
};
[[nodiscard]] std::span<const Entry> strategies();
// Returns null for an unknown name.
[[nodiscard]] const Entry* find_strategy(std::string_view name);

}  // namespace weft::trust::attacks
