#include "platform/store/memory/money_rows.h"

#include <algorithm>

#include "common/records/transaction.h"

namespace weft::store::memory {

Result<> MoneyRows::write(const Transaction& transaction) {
  const ledger::Transaction& what = transaction.transaction;
  MicroCredits total = 0;
  for (const ledger::Entry& entry : what.entries) total += entry.amount;
  if (total != 0)
    return fail(ErrorCode::invalid_argument,
                "The entries of the transaction {} sum to {}, not to 0.", what.key, total);
  if (what.job) WEFT_OK(jobs_.row_of(*what.job));
  if (!keys_.insert(what.key).second)
    return fail(ErrorCode::already_exists, "The transaction {} is stored already.", what.key);
  undo_.later([this, key = what.key] { keys_.erase(key); });
  for (const ledger::Entry& entry : what.entries) {
    balances_[entry.account] += entry.amount;
    undo_.later([this, entry] { balances_[entry.account] -= entry.amount; });
  }
  for (const ledger::Entry& entry : what.entries) {
    if (entry.account.kind != ledger::Account::Kind::mint && balances_[entry.account] < 0) {
      return fail(ErrorCode::insufficient_funds,
                  "The account {} holds less than the {} micro-credits that {} takes.",
                  entry.account.text(), -entry.amount, what.key);
    }
  }
  transactions_.push_back(transaction);
  undo_.later([this] { transactions_.pop_back(); });
  return {};
}

void MoneyRows::load(Loaded& loaded) const {
  for (const auto& [account, amount] : balances_) {
    if (amount != 0) loaded.balances.push_back({.account = account, .amount = amount});
  }
  for (const Transaction& each : transactions_) {
    const auto& what = each.transaction;
    if (!what.job && what.key.starts_with(ledger::answer_key_prefix))
      continue;  // Keys of answers are never repeated (sqlite/state_reader.cpp).
    if (!what.job || jobs_.at(*what.job).job.state == JobState::running)
      loaded.keys.push_back({.key = what.key, .job = what.job});
  }
}

std::vector<Posted> MoneyRows::posted() const {
  std::map<ledger::Account, MicroCredits> balances;
  std::vector<Posted> all;
  for (const Transaction& each : transactions_) {
    const ledger::Transaction& from = each.transaction;
    Posted& made = all.emplace_back(Posted{
        .key = from.key, .job = from.job, .what = from.what, .time = each.time, .movements = {}});
    for (const ledger::Entry& entry : from.entries) {
      auto known = std::ranges::find(made.movements, entry.account, &Movement::account);
      if (known == made.movements.end())
        known = made.movements.insert(known, {.account = entry.account, .amount = 0, .balance = 0});
      known->amount += entry.amount;
      known->balance = balances[entry.account] += entry.amount;
    }
  }
  return all;
}

Result<History> MoneyRows::history(const ledger::Account& account,
                                   const Store::HistoryPage& page) const {
  const std::vector<Posted> all = posted();
  const auto touches = [&](std::size_t place) {
    return std::ranges::contains(all[place - 1].movements, account, &Movement::account);
  };
  if (page.from > all.size() || (page.from != 0 && !touches(page.from)))
    return fail(ErrorCode::invalid_argument, "There is no page of {} that begins at {}.",
                account.text(), page.from);
  History history;
  for (std::size_t place = page.from == 0 ? all.size() : page.from; place > 0; --place) {
    if (!touches(place)) continue;
    if (history.transactions.size() == page.count) {
      history.next = place;
      break;
    }
    history.transactions.push_back(all[place - 1]);
  }
  return history;
}

History MoneyRows::history(const JobId& job, const Store::HistoryPage& page) const {
  const std::vector<Posted> all = posted();
  History history;
  for (std::size_t place = std::max<std::size_t>(page.from, 1); place <= all.size(); ++place) {
    if (all[place - 1].job != job) continue;
    if (history.transactions.size() == page.count) {
      history.next = place;
      break;
    }
    history.transactions.push_back(all[place - 1]);
  }
  return history;
}

History MoneyRows::history(const Store::HistoryPage& page) const {
  const std::vector<Posted> all = posted();
  History history;
  for (std::size_t place = std::max<std::size_t>(page.from, 1); place <= all.size(); ++place) {
    if (history.transactions.size() == page.count) {
      history.next = place;
      break;
    }
    history.transactions.push_back(all[place - 1]);
  }
  return history;
}

Result<> MoneyRows::audit() const {
  std::map<ledger::Account, MicroCredits> added;
  for (const Transaction& each : transactions_) {
    for (const ledger::Entry& entry : each.transaction.entries)
      added[entry.account] += entry.amount;
  }
  for (const auto& [account, amount] : balances_) {
    if (added[account] != amount) {
      return fail(ErrorCode::data_loss, "The account {} holds {}; its transactions sum to {}.",
                  account.text(), amount, added[account]);
    }
  }
  return {};
}

}  // namespace weft::store::memory
