#include "decisions/jobs/accounts.h"

#include <utility>

namespace weft::jobs {

Result<> Accounts::restore(const store::Loaded& loaded) {
  WEFT_OK(owners_.restore(loaded.devices));
  for (const store::Device& device : loaded.devices) book_.set_device(device);
  if (auto restored = ledger_.restore(loaded.balances, loaded.keys); !restored)
    return pass(std::move(restored), "while restoring the ledger");
  return {};
}

// The old balances become free credits, because they did not distinguish grants.
Result<> Accounts::join_balances(const store::Loaded& loaded, Moment now) {
  for (const auto& entry : loaded.balances) {
    if (entry.account.kind != ledger::Account::Kind::worker || entry.amount <= 0) continue;
    const OwnerId owner{{entry.account.id}};
    if (auto moved = move({.key = "one-balance:" + owner.text(),
                           .job = {},
                           .entries = {{entry.account, -entry.amount},
                                       {ledger::Account::owner(owner), entry.amount}},
                           .what = "puts what was earned to what can be spent"},
                          now);
        !moved)
      return pass(std::move(moved), "while giving each owner one balance");
  }
  for (const auto& entry : loaded.balances) {
    if (ledger::has_owner(entry.account.kind)) note_balances(OwnerId{{entry.account.id}});
  }
  return {};
}

OwnerView Accounts::view(const PublicKey& device) const {
  const OwnerId owner = owner_of(device);
  return {.owner = owner,
          .device = device,
          .balances = ledger_.balances(owner),
          .devices = owners_.devices(owner)};
}

MicroCredits Accounts::slashable_stake(const OwnerId& owner) const {
  return ledger_.balance(ledger::Account::stake(owner));
}

Result<> Accounts::has_free(const OwnerId& owner, MicroCredits amount,
                            std::string_view verb) const {
  const ledger::Funds has = ledger_.spendable(owner);
  if (amount <= has.free) return {};
  return fail(
      ErrorCode::insufficient_funds,
      "The balance is {:.6f} credits, less than {:.6f}; {:.6f} granted credits cannot be {}.",
      static_cast<double>(has.free) / 1e6, static_cast<double>(amount) / 1e6,
      static_cast<double>(has.granted) / 1e6, verb);
}

Result<ledger::Applied> Accounts::move(ledger::Transaction transaction, Moment now) {
  auto applied = ledger_.apply(transaction);
  if (!applied || *applied == ledger::Applied::before) return applied;
  for (const auto& entry : transaction.entries) {
    using Kind = ledger::Account::Kind;
    const Kind kind = entry.account.kind;
    if (kind == Kind::owner || kind == Kind::granted || kind == Kind::stake)
      note_balances(OwnerId{{entry.account.id}});
  }
  outbox_.batch().transactions.push_back({.transaction = std::move(transaction), .time = now.unix});
  return applied;
}

void Accounts::note_balances(const OwnerId& owner) {
  const bool can_spend = ledger_.spendable(owner).total() > 0;
  if (can_spend != funded_.contains(owner)) {
    can_spend ? (void)funded_.insert(owner) : (void)funded_.erase(owner);
    for (const auto& device : owners_.devices(owner)) book_.set_funded(device.key, can_spend);
  }
  const bool has_stake = slashable_stake(owner) > 0;
  if (has_stake == staked_.contains(PublicKey{{owner.bytes}})) return;
  for (const auto& device : owners_.devices(owner))
    has_stake ? (void)staked_.insert(device.key) : (void)staked_.erase(device.key);
}

void Accounts::store_device(store::Device row) {
  book_.set_device(row);
  outbox_.batch().devices.push_back(std::move(row));
}

Result<> Accounts::add_device(const PublicKey& by, store::Device device, UnixMillis now) {
  const PublicKey key = device.key;
  auto changed = owners_.add(by, std::move(device), now);
  if (!changed) return pass(std::move(changed));
  for (auto& row : *changed) store_device(std::move(row));
  const OwnerId owner = owner_of(by);
  book_.set_funded(key, funded_.contains(owner));
  if (slashable_stake(owner) > 0) staked_.insert(key);
  return {};
}

Result<store::Device> Accounts::revoke_device(const PublicKey& by, const PublicKey& key,
                                              UnixMillis now) {
  auto revoked = owners_.revoke(by, key, now);
  if (!revoked) return revoked;
  store_device(*revoked);
  book_.set_funded(key, false);
  staked_.erase(key);
  return revoked;
}

void Accounts::forget_names(const OwnerId& owner) {
  for (store::Device& row : owners_.forget_names(owner)) store_device(std::move(row));
}

}  // namespace weft::jobs
