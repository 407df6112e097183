// The balances of all owners. Double entry in micro-credits: every transaction sums to zero, so the
// sum of all balances is always zero. No balance is negative except mint's, whose negative balance
// is the sum of all granted and issued credits.
//
// Granted credits stay granted (common/records/account.h): only mint makes or takes them. Every
// other transaction moves as many credits out of granted accounts as into granted accounts, and an
// owner's granted credits leave it only for an escrow. Held credits go to their owner, to a client
// whose task was wrong or to the verification account; as long as they are held, they are neither
// spent nor staked. Only an owner's own free credits are settled, and settled credits are never
// taken back. apply() enforces these rules (rules.h) for every transaction.
//
// Pure: no clock, no store. The caller applies a transaction here, puts it into the batch that it
// commits, and shows no client the effect before the commit is durable. After a restart, restore()
// takes the stored balances and the keys of jobs that have not ended.
//
// Keys of ended jobs are not held in memory. A transaction that is replayed with such a key finds
// the job's escrow empty and is refused with insufficient_funds, and the store refuses a key that
// it has seen before in any case.
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
  now,     // The balances moved: store the transaction.
  before,  // A transaction with this key was applied before. No balance moved: store nothing.
};

// An owner's balances, without the escrows of its jobs.
struct Balances {
  // free may be spent, transferred or staked; granted may be spent, and is spent first.
  Funds spendable;
  Funds held;  // Pay that is not free yet.
  MicroCredits staked = 0;
  MicroCredits settled = 0;  // Paid on a chain since the start.
  friend bool operator==(const Balances&, const Balances&) = default;
};

class Ledger {
 public:
  // Applies all entries or none. A key that was applied before is detected first. Fails with
  // invalid_argument if the entries do not sum to zero, an amount overflows or the key is empty;
  // with permission_denied if they move granted or held credits against the rules; and with
  // insufficient_funds if a balance other than mint's would become negative.
  [[nodiscard]] Result<Applied> apply(const Transaction& transaction);

  // True if a transaction without a job was applied with this key.
  [[nodiscard]] bool knows(const std::string& key) const { return keys_.contains(key); }

  // Returns 0 for an account that never had credits.
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

  // Forgets the keys of a job that has ended, to keep memory bounded. Call this when the job's
  // escrow is closed.
  void close(const JobId& job);

  // Restores an empty ledger. Fails with data_loss if the balances do not sum to zero, or if one is
  // negative that must not be.
  using AppliedKey = ledger::AppliedKey;
  [[nodiscard]] Result<> restore(std::span<const Entry> balances, std::span<const AppliedKey> keys);

 private:
  // Nothing depends on the order of the accounts: balances() returns a sorted copy.
  std::unordered_map<Account, MicroCredits> balances_;
  std::unordered_set<std::string> keys_;  // Keys of applied transactions without a job.
  std::unordered_map<JobId, std::unordered_set<std::string>> job_keys_;
};

}  // namespace weft::ledger
