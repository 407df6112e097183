// The stakes of owners, in the ledger and on the chain: the staked amounts, the part that is at
// risk for undecided work, and the deposits and withdrawals.
//
// Only the stake in the ledger can be slashed, and only that stake may be locked for work (decision
// 31). Threading: one thread.
#pragma once

#include <map>

#include "decisions/jobs/chain_stakes.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/rulings.h"

namespace weft::jobs {

class Stakes {
 public:
  Stakes(CoreTables& tables, const OpenClaims& claims) : tables_(tables), claims_(claims) {}
  Stakes(const Stakes&) = delete;

  // The owner's stake in the ledger and on the chain together.
  [[nodiscard]] MicroCredits stake_of(const OwnerId& owner, Instant now) const;
  // The part of the stake of the wallet's owner that is at risk for tasks, answers and wrong
  // results.
  [[nodiscard]] MicroCredits at_risk(const PublicKey& wallet) const;
  // The stake that tasks of this device may lock: the part of its owner's stake that is not at risk
  // for answers or for other devices of the owner.
  [[nodiscard]] MicroCredits free_of_answers(const PublicKey& wallet) const;
  [[nodiscard]] StakeView view(const PublicKey& wallet, Moment now) const;

  // Put an amount at risk while an answer of the worker is audited, and release it afterwards.
  void risk(const PublicKey& worker, MicroCredits amount) { answers_at_risk_[worker] += amount; }
  void release(const PublicKey& worker, MicroCredits amount);

  // Moves credits between an owner and its stake. `number` belongs to the request: requests with an
  // equal number move money once. Fails with permission_denied if stakes are not open, and with
  // insufficient_funds if the account does not hold the amount or the stake is at risk.
  void move(const StakeMove& move, Moment now, Answer<StakeView> answer);
  void show(const PublicKey& wallet, Moment now, Answer<StakeView> answer);
  // Takes a reading of the chain; see ChainStakes::seen().
  void read_chain(const ChainReading& reading, Moment now, Answer<ChainReadingTaken> answer);

 private:
  CoreTables& tables_;
  const OpenClaims& claims_;
  ChainStakes chain_;
  std::map<PublicKey, MicroCredits> answers_at_risk_;
};

}  // namespace weft::jobs
