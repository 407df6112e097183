#include "apps/cli/settlement/simulated_coordinator.h"

#include <algorithm>
#include <map>

namespace weft::cli {
namespace {

using settlement::JournalRow;

constexpr MicroCredits one_credit = 1'000'000;

std::uint64_t number_of(const Hash& key) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < 8; ++i) out |= std::uint64_t{key.bytes[i]} << (8 * i);
  return out;
}

}  // namespace

Result<SimulatedCoordinator> SimulatedCoordinator::create(const Place& place) {
  WEFT_ASSIGN(
      CreditJournal journal,
      CreditJournal::open(place.journal, {.config = place.config, .coordinator = place.key}));
  return SimulatedCoordinator(place, std::move(journal));
}

Result<> SimulatedCoordinator::apply(ledger::Transaction transaction,
                                     std::optional<settlement::PaidJob> job) {
  WEFT_ASSIGN(const ledger::Applied applied, ledger_.apply(transaction));
  if (applied == ledger::Applied::before) return {};
  sums_.reset();
  units_.add(transaction.key, transaction.entries, job);
  store_.push_back({.transaction = std::move(transaction), .job = job});
  return {};
}

Result<> SimulatedCoordinator::issue(const settlement::Crediting& crediting, std::uint64_t salt) {
  return apply(ledger::issue(OwnerId::of_first(crediting.owner),
                             static_cast<MicroCredits>(crediting.amount()),
                             number_of(settlement::key_of(crediting, place_.config)) + salt));
}

Result<> SimulatedCoordinator::written(const JournalRow& row) {
  WEFT_OK(journal_->append(row));
  sums_.reset();
  return charges_.written(row);
}

Result<std::size_t> SimulatedCoordinator::credit(std::span<const Charged> charged, Crash crash) {
  for (const Charged& one : charged) {
    if (const auto next = charges_.seen(one.client, one.amount))
      WEFT_OK(written({.state = JournalRow::State::open, .crediting = *next}));
  }
  const auto open = charges_.open();
  for (const settlement::Crediting& crediting : open) {
    WEFT_OK(issue(crediting, 0));
    if (crash == Crash::before_answer) return open.size();
    WEFT_OK(written({.state = JournalRow::State::done, .crediting = crediting}));
  }
  return open.size();
}

Result<> SimulatedCoordinator::restart(bool forgetful) {
  std::map<ledger::Account, MicroCredits> balances;
  std::vector<ledger::AppliedKey> keys;
  units_ = {};
  for (const Written& one : store_) {
    for (const ledger::Entry& entry : one.transaction.entries)
      balances[entry.account] += entry.amount;
    if (!one.transaction.job) keys.push_back({.key = one.transaction.key, .job = std::nullopt});
    units_.add(one.transaction.key, one.transaction.entries, one.job);
  }
  std::vector<ledger::Entry> entries;
  for (const auto& [account, amount] : balances)
    if (amount != 0) entries.push_back({.account = account, .amount = amount});
  ledger_ = {};
  WEFT_OK(ledger_.restore(entries, keys));
  journal_.reset();
  WEFT_ASSIGN(
      CreditJournal journal,
      CreditJournal::open(place_.journal, {.config = place_.config, .coordinator = place_.key}));
  journal_.emplace(std::move(journal));
  WEFT_ASSIGN(charges_, settlement::Charges::restore(journal_->rows()));
  sums_.reset();
  for (const settlement::Crediting& crediting : charges_.open()) {
    WEFT_OK(issue(crediting, forgetful ? 1 : 0));
    WEFT_OK(written({.state = JournalRow::State::done, .crediting = crediting}));
  }
  return {};
}

Result<> SimulatedCoordinator::work(const PublicKey& client, std::span<const PublicKey> workers,
                                    double units) {
  const OwnerId owner = OwnerId::of_first(client);
  const MicroCredits budget = ledger_.spendable(owner).total();
  if (budget < static_cast<MicroCredits>(workers.size()) || workers.empty()) return {};
  JobId job;
  ++numbers_;
  for (std::size_t i = 0; i < 8; ++i) job.bytes[i] = static_cast<std::uint8_t>(numbers_ >> (8 * i));
  WEFT_OK(apply(ledger::open_escrow(job, owner, budget, ledger_.spendable(owner))));
  const MicroCredits price = budget / static_cast<MicroCredits>(workers.size());
  const settlement::PaidJob paid{
      .client = owner, .price = price * static_cast<MicroCredits>(workers.size()), .units = units};
  for (std::uint32_t i = 0; i < workers.size(); ++i) {
    const OwnerId worker = OwnerId::of_first(workers[i]);
    WEFT_OK(
        apply(ledger::pay_task({.task = {.job = job, .index = i}, .client = owner, .price = price},
                               std::span(&worker, 1), ledger_.escrow(job)),
              paid));
  }
  WEFT_OK(apply(ledger::close_escrow(job, owner, ledger_.escrow(job))));
  ledger_.close(job);
  return {};
}

Result<> SimulatedCoordinator::settle(const PublicKey& owner) {
  const OwnerId id = OwnerId::of_first(owner);
  const MicroCredits free = ledger_.spendable(id).free;
  if (free < one_credit) return {};
  return apply(ledger::settle(id, free, ++numbers_));
}

Result<settlement::EpochRows> SimulatedCoordinator::rows(
    std::span<const solana::Earned> previous, const settlement::EpochFunds& funds) const {
  std::vector<settlement::Settled> settled;
  for (const auto& [account, amount] : ledger_.balances()) {
    if (account.kind != ledger::Account::Kind::settled) continue;
    PublicKey owner;
    owner.bytes = account.id;
    settled.push_back({.owner = owner,
                       .amount = static_cast<std::uint64_t>(amount),
                       .units = units_.of(OwnerId{{account.id}})});
  }
  return settlement::next_rows(previous, settled, funds);
}

const LedgerSums& SimulatedCoordinator::sums() {
  if (sums_) return *sums_;
  sums_.emplace();
  for (const auto& [account, amount] : ledger_.balances()) {
    sums_->sum += amount;
    if (account.kind == ledger::Account::Kind::mint) sums_->issued -= amount;
    if (account.kind == ledger::Account::Kind::settled) sums_->settled += amount;
  }
  for (const JournalRow& row : journal_->rows())
    if (row.state == JournalRow::State::done)
      sums_->credited[row.crediting.owner] = charges_.credited(row.crediting.owner);
  return *sums_;
}

}  // namespace weft::cli
