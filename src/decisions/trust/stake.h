// The stake that a wallet can lose. For each task that a wallet runs alone, a stake is locked from
// the lease until it is known which checks the result gets; a wrong result that is found costs the
// stake. A cheat with a share s of wrong parts saves s of the task's value v and is found with
// probability d(s) (replication_policy.h), so its expected value is
//
//   EV(s) = v * s * (1 - d(s)) - S * d(s)
//
// This formula counts all the pay for the wrong parts as the cheat's gain, and only the stake S as
// its loss. With
//
//   S = v * max(1, margin * max over s of s * (1 - d(s)) / d(s))       s = 1/parts, 2/parts, ... 1
//
// EV(s) is negative for every s at every reputation. It does not matter what else the wallet does
// or how many tasks it holds at once, because each task has its own stake.
#pragma once

#include <map>
#include <unordered_map>

#include "common/base/ids.h"
#include "decisions/trust/replication_policy.h"

namespace weft::trust {

inline constexpr double stake_margin = 2;

// Returns S / v, the stake as a multiple of the task's value.
[[nodiscard]] double stake_per_value(const CheckRates& rates, double collusion);
// Returns the stake S, rounded up; 0 for a task without a value.
[[nodiscard]] MicroCredits stake_for(MicroCredits value, const CheckRates& rates, double collusion);
// Returns EV(s) / v for a stake of `stake` * v.
[[nodiscard]] double expected_value(const CheckRates& rates, double wrong_share, double stake,
                                    double collusion);

// The locked stakes. The ledger has the whole stake of a wallet (stake:KEY); the part that is not
// locked is free.
class StakesAtRisk {
 public:
  // Locks `amount`. Returns false and locks nothing if `held` minus the locked stakes is less than
  // `amount`. A task locks once for a worker.
  [[nodiscard]] bool lock(const PublicKey& worker, const TaskId& task, MicroCredits amount,
                          MicroCredits held);
  // Returns the amount that was locked; 0 if nothing was locked.
  MicroCredits unlock(const PublicKey& worker, const TaskId& task);
  [[nodiscard]] MicroCredits locked(const PublicKey& worker) const;

 private:
  struct Wallet {
    MicroCredits sum = 0;
    std::map<TaskId, MicroCredits> tasks;
  };
  std::unordered_map<PublicKey, Wallet> wallets_;  // The order varies: never iterated.
};

}  // namespace weft::trust
