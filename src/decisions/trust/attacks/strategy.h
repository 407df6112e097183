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
// Uniform in [0, 1).
[[nodiscard]] inline double chance(Random& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

// What an attacker sees when it is to run a task.
struct Sight {
  double reputation = 0;
  bool established = false;
  double hours = 0;          // Since the run began.
  std::uint32_t number = 0;  // The attacker's, from 0 on.
  std::uint32_t client = 0;  // Whose job it is.
  bool own = false;          // The job is an attacker's.
  bool canary = false;
  double price = 0;  // Price of the task over that of the cheapest job.
  std::uint32_t slices = 64;
};

struct Deed {
  enum class Kind : std::uint8_t {
    answers,
    silent,  // Says nothing until the lease expires.
    fails,   // Says that the shader is wrong.
  };
  Kind kind = Kind::answers;
  std::uint32_t wrong = 0;  // So many slices of the answer are wrong.
  bool one_value = false;   // Only one value of one slice is: the rest of the work is done.
  bool invented = false;    // The answer is right, and the states that it commits to are invented.
  double claims = 1;        // The seconds that it says it took, over those that it took.
};

class Strategy {
 public:
  explicit Strategy(const Plan& plan) : plan_(plan) {}
  Strategy(const Strategy&) = delete;
  virtual ~Strategy() = default;

  [[nodiscard]] virtual Deed on_task(const Sight& sight, Random& random) = 0;
  // What it reports of a part that it audits: by default an accomplice's is right, and of others it
  // tells the truth.
  [[nodiscard]] virtual bool confirms(bool accomplice, bool is_right) {
    return accomplice || is_right;
  }
  // Whether it leaves now, with its stake, and comes back with a new wallet.
  [[nodiscard]] virtual bool leaves(double /*hours*/, std::uint32_t /*wrong*/) { return false; }

 protected:
  // An answer that is wrong as often and in as many slices as the plan says, in jobs of the plan's
  // target; otherwise an honest one.
  [[nodiscard]] Deed cheats(const Sight& sight, Random& random) const;

  const Plan plan_;
};

struct Entry {
  std::string_view name;
  std::string_view about;
  Plan (*plan)();  // What it plays by default.
  std::unique_ptr<Strategy> (*make)(const Plan& plan);
};
[[nodiscard]] std::span<const Entry> strategies();
// Null for an unknown name.
[[nodiscard]] const Entry* find_strategy(std::string_view name);

}  // namespace weft::trust::attacks
