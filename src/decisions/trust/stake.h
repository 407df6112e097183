// What a wallet has to lose. For each task that it does alone, a stake is locked from the lease
// until what will be checked of the result is known; a wrong result that is found costs it. A cheat
// with a share s of wrong parts saves s of the task's value v and is found with probability d(s)
// (replication_policy.h), so what it can expect is
//
//   EV(s) = v * s * (1 - d(s)) - S * d(s)
//
// taking all that it is paid for the wrong part as its gain, and nothing but the stake as its loss.
// With
//
//   S = v * max(1, margin * max over s of s * (1 - d(s)) / d(s))       s = 1/parts, 2/parts, ... 1
//
// EV(s) is negative for every s at every reputation, whatever the wallet does at other times and
// however many tasks it holds at once, since each has a stake of its own.
#pragma once

#include <map>
#include <unordered_map>

#include "common/base/ids.h"
#include "decisions/trust/replication_policy.h"

namespace weft::trust {

inline constexpr double stake_margin = 2;

// S / v above.
[[nodiscard]] double stake_per_value(const CheckRates& rates, double collusion);
// S, rounded up; 0 for a task without a value.
[[nodiscard]] MicroCredits stake_for(MicroCredits value, const CheckRates& rates, double collusion);
// EV(s) / v for a stake of `stake` * v.
[[nodiscard]] double expected_value(const CheckRates& rates, double wrong_share, double stake,
                                    double collusion);

// Which stakes are locked. What a wallet holds is the ledger's (stake:KEY); the difference is free.
class StakesAtRisk {
 public:
  // False, and nothing is locked, where `held` less what is locked does not reach. A task locks
  // once for a worker.
  [[nodiscard]] bool lock(const PublicKey& worker, const TaskId& task, MicroCredits amount,
                          MicroCredits held);
  // What was locked; 0 for nothing.
  MicroCredits unlock(const PublicKey& worker, const TaskId& task);
  [[nodiscard]] MicroCredits locked(const PublicKey& worker) const;

 private:
  struct Wallet {
    MicroCredits sum = 0;
    std::map<TaskId, MicroCredits> tasks;
  };
  std::unordered_map<PublicKey, Wallet> wallets_;  // Looked up only.
};

}  // namespace weft::trust
