#include "decisions/ledger/ledger.h"

#include <algorithm>

#include "common/base/check.h"
#include "decisions/ledger/rules.h"

namespace weft::ledger {
namespace {

__extension__ using Wide = __int128;

// Adds without wrapping; returns false on overflow.
bool add(MicroCredits& sum, MicroCredits amount) {
  return !__builtin_add_overflow(sum, amount, &sum);
}

std::vector<Entry> net_changes(std::vector<Entry> entries, bool& overflow) {
  std::ranges::sort(entries, {}, &Entry::account);
  std::vector<Entry> net;
  for (const Entry& entry : entries) {
    if (!net.empty() && net.back().account == entry.account) {
      overflow |= !add(net.back().amount, entry.amount);
    } else {
      net.push_back(entry);
    }
  }
  return net;
}

}  // namespace

Result<Applied> Ledger::apply(const Transaction& transaction) {
  if (transaction.key.empty())
    return fail(ErrorCode::invalid_argument, "A transaction needs a key.");
  if (keys_.contains(transaction.key)) return Applied::before;
  if (transaction.job) {
    const auto known = job_keys_.find(*transaction.job);
    if (known != job_keys_.end() && known->second.contains(transaction.key)) return Applied::before;
  }

  bool overflow = false;
  const std::vector<Entry> net = net_changes(transaction.entries, overflow);
  MicroCredits total = 0;
  std::vector<MicroCredits> after;
  for (const Entry& change : net) {
    overflow |= !add(total, change.amount);
    MicroCredits balance_after = balance(change.account);
    overflow |= !add(balance_after, change.amount);
    if (overflow)
      return fail(ErrorCode::invalid_argument,
                  "The transaction {} would overflow the balance of an account.", transaction.key);
    if (balance_after < 0 && change.amount < 0 && change.account.kind != Account::Kind::mint) {
      return fail(ErrorCode::insufficient_funds,
                  "The account {} holds {} micro-credits; {} are needed.", change.account.text(),
                  balance(change.account), -change.amount);
    }
    after.push_back(balance_after);
  }
  if (total != 0)
    return fail(ErrorCode::invalid_argument,
                "The entries of the transaction {} sum to {}, not to 0.", transaction.key, total);
  WEFT_OK(check_rules(transaction.key, net));

  for (std::size_t i = 0; i < net.size(); ++i) {
    if (after[i] == 0) {
      balances_.erase(net[i].account);
    } else {
      balances_[net[i].account] = after[i];
    }
  }
  (transaction.job ? job_keys_[*transaction.job] : keys_).insert(transaction.key);
  return Applied::now;
}

MicroCredits Ledger::balance(const Account& account) const {
  const auto found = balances_.find(account);
  return found == balances_.end() ? 0 : found->second;
}

Funds Ledger::spendable(const OwnerId& owner) const {
  return {.free = balance(Account::owner(owner)), .granted = balance(Account::granted(owner))};
}
Funds Ledger::held(const OwnerId& owner) const {
  return {.free = balance(Account::held(owner)), .granted = balance(Account::held_granted(owner))};
}
Funds Ledger::escrow(const JobId& job) const {
  return {.free = balance(Account::escrow(job)), .granted = balance(Account::escrow_granted(job))};
}
Funds Ledger::verification() const {
  return {.free = balance(Account::verification()),
          .granted = balance(Account::verification_granted())};
}
Funds Ledger::platform() const {
  return {.free = balance(Account::platform()), .granted = balance(Account::platform_granted())};
}

Balances Ledger::balances(const OwnerId& owner) const {
  return {.spendable = spendable(owner),
          .held = held(owner),
          .staked = balance(Account::stake(owner)),
          .settled = balance(Account::settled(owner))};
}

std::map<Account, MicroCredits> Ledger::balances() const {
  return {balances_.begin(), balances_.end()};
}

MicroCredits Ledger::sum() const {
  Wide total = 0;  // The sum is 0, but partial sums in any order may leave 64 bits.
  for (const auto& [account, amount] : balances_) total += amount;
  check(total >= INT64_MIN && total <= INT64_MAX, "balances sum to a number of 64 bits");
  return static_cast<MicroCredits>(total);
}

void Ledger::close(const JobId& job) { job_keys_.erase(job); }

Result<> Ledger::restore(std::span<const Entry> balances, std::span<const AppliedKey> keys) {
  check(balances_.empty() && keys_.empty() && job_keys_.empty(),
        "only an empty ledger is restored");
  Wide total = 0;
  for (const Entry& entry : balances) {
    if (entry.amount < 0 && entry.account.kind != Account::Kind::mint) {
      return fail(ErrorCode::data_loss, "The stored balance of {} is negative ({}).",
                  entry.account.text(), entry.amount);
    }
    total += entry.amount;
  }
  if (total != 0) return fail(ErrorCode::data_loss, "The stored balances do not sum to 0.");
  for (const Entry& entry : balances) {
    if (entry.amount != 0) balances_[entry.account] = entry.amount;
  }
  for (const AppliedKey& key : keys) (key.job ? job_keys_[*key.job] : keys_).insert(key.key);
  return {};
}

}  // namespace weft::ledger
