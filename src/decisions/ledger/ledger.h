// The balances of all owners. Double entry in micro-credits: every transaction sums to zero, so all
// balances always do; none is negative except mint's, whose negative balance is what was ever
// granted or issued.
//
// Granted credits stay granted (common/records/account.h): only mint makes or takes them, each
// transaction that does neither moves as many out of granted accounts as into others, and an
// owner's granted credits leave it only for an escrow. Held credits go to their owner, to a client
// whose task was wrong or to the verification account, and are neither spent nor staked before.
// Only an owner's own free credits are settled, and nothing takes them back. These are rules of
// apply(), whatever made the transaction (rules.h).
//
// Pure: no clock, no store. The wiring applies a transaction here, puts it into the batch that it
// commits, and shows no client the effect before the commit is durable. After a restart, restore()
// takes the stored balances and the keys of jobs that have not ended.
//
// Keys of ended jobs are not held in memory; a replay of one finds its escrow empty and is refused
// with insufficient_funds, and the store refuses a key that it has seen before in any case.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/base/result.h"
#include "common/records/account.h"
#include "common/records/funds.h"
#include "common/records/transaction.h"

namespace weft::ledger {

enum class Applied : std::uint8_t {
  now,     // The balances moved; store the transaction.
  before,  // A transaction with this key was applied earlier; nothing moved, store nothing.
};

// What an owner has. Not what is in escrows of its jobs.
struct Balances {
  Funds spendable;  // free: spent, transferred, staked; granted: spent, and first.
  Funds held;       // Pay that is not free yet.
  MicroCredits staked = 0;
  MicroCredits settled = 0;  // Ever; paid on a chain.
  friend bool operator==(const Balances&, const Balances&) = default;
};

class Ledger {
 public:
  // Applies all entries or none. invalid_argument if they do not sum to zero, an amount
  // overflows or the key is empty; permission_denied if they move granted or held credits
  // against the rules; insufficient_funds where a balance other than mint's would become negative.
  // The key is looked up first.
  [[nodiscard]] Result<Applied> apply(const Transaction& transaction);

  // Whether a transaction without a job was applied with this key.
  [[nodiscard]] bool knows(const std::string& key) const { return keys_.contains(key); }

  // 0 for an account that never had anything.
  [[nodiscard]] MicroCredits balance(const Account& account) const;
  [[nodiscard]] Balances balances(const OwnerId& owner) const;
  [[nodiscard]] Funds spendable(const OwnerId& owner) const;
  [[nodiscard]] Funds held(const OwnerId& owner) const;
  [[nodiscard]] Funds escrow(const JobId& job) const;
  [[nodiscard]] Funds verification() const;
  [[nodiscard]] Funds platform() const;
  // Every account with a balance other than 0, in order of kind and id.
  [[nodiscard]] std::map<Account, MicroCredits> balances() const;
  // Always 0; computed from the balances, for tests, the demo and /v1/ledger.
  [[nodiscard]] MicroCredits sum() const;

  // Forgets the keys of a job that has ended, to keep memory bounded. Call when the job's escrow is
  // closed.
  void close(const JobId& job);

  // Only on an empty ledger. data_loss if the balances do not sum to zero or one is negative
  // that must not be.
  using AppliedKey = ledger::AppliedKey;
  [[nodiscard]] Result<> restore(std::span<const Entry> balances, std::span<const AppliedKey> keys);

 private:
  std::unordered_map<Account, MicroCredits>
      balances_;                          // Looked up only; listed through balances(), in order.
  std::unordered_set<std::string> keys_;  // Keys of transactions without a job.
  std::unordered_map<JobId, std::unordered_set<std::string>> job_keys_;
};

}  // namespace weft::ledger
