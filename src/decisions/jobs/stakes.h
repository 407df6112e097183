// What owners have staked, in the ledger and on the chain, how much of it is at risk for work that
// is not decided, and what they put down and take back themselves.
//
// What the ledger holds can be slashed, and it alone may be locked for work (decision 31).
// Threading: one thread.
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

  // In the ledger and on the chain together.
  [[nodiscard]] MicroCredits stake_of(const OwnerId& owner, Instant now) const;
  // Part of the stake of the wallet's owner: for tasks, answers and wrong results.
  [[nodiscard]] MicroCredits at_risk(const PublicKey& wallet) const;
  // The part of the owner's stake that is not at risk for answers or by another of its devices:
  // tasks of this one may lock it.
  [[nodiscard]] MicroCredits free_of_answers(const PublicKey& wallet) const;
  [[nodiscard]] StakeView view(const PublicKey& wallet, Moment now) const;

  // While an answer of the worker is audited.
  void risk(const PublicKey& worker, MicroCredits amount) { answers_at_risk_[worker] += amount; }
  void release(const PublicKey& worker, MicroCredits amount);

  // `number` is the request's own: the same one moves money once. permission_denied if stakes
  // are not open, insufficient_funds if the account does not hold it or what is staked is at
  // risk.
  void move(const StakeMove& move, Moment now, Answer<StakeView> answer);
  void show(const PublicKey& wallet, Moment now, Answer<StakeView> answer);
  // As ChainStakes::seen().
  void read_chain(const ChainReading& reading, Moment now, Answer<ChainReadingTaken> answer);

 private:
  CoreTables& tables_;
  const OpenClaims& claims_;
  ChainStakes chain_;
  std::map<PublicKey, MicroCredits> answers_at_risk_;
};

}  // namespace weft::jobs
