// The owners' money: the ledger, the owners' devices, and the book, which is the part of both that
// other threads may read. Every movement of money and every change of a device goes through this
// class and is a row of the flush of the event that caused it.
//
// Threading: one thread. Invariant: the ledger sums to zero after every call.
#pragma once

#include <set>
#include <span>
#include <string_view>
#include <unordered_set>

#include "common/records/records.h"
#include "decisions/jobs/book.h"
#include "decisions/jobs/core_requests.h"
#include "decisions/jobs/outbox.h"
#include "decisions/ledger/ledger.h"
#include "decisions/ledger/owners.h"

namespace weft::jobs {

class Accounts {
 public:
  Accounts(Outbox& outbox, Book& book) : outbox_(outbox), book_(book) {}
  Accounts(const Accounts&) = delete;

  // Takes up the stored rows. Fails with data_loss if the rows contradict themselves.
  [[nodiscard]] Result<> restore(const store::Loaded& loaded);
  // Moves credits that wallets earned as workers before an owner had one balance to the balance of
  // their owner. Then updates the book from all balances.
  [[nodiscard]] Result<> join_balances(const store::Loaded& loaded, Moment now);

  [[nodiscard]] const ledger::Ledger& ledger() const { return ledger_; }
  [[nodiscard]] const ledger::Owners& owners() const { return owners_; }
  [[nodiscard]] OwnerId owner_of(const PublicKey& key) const { return owners_.owner_of(key); }
  // Fails with permission_denied if the device may not spend its owner's credits.
  [[nodiscard]] Result<> may_spend(const PublicKey& device) const {
    return owners_.may_act(device, ledger::Owners::Wants::spending);
  }
  [[nodiscard]] OwnerView view(const PublicKey& device) const;
  // The credits that the owner of a worker or client can spend.
  [[nodiscard]] MicroCredits spendable(const PublicKey& key) const {
    return ledger_.spendable(owner_of(key)).total();
  }
  // The pay that the owner of a worker or client has earned but that is not free yet.
  [[nodiscard]] MicroCredits held_pay(const PublicKey& key) const {
    return ledger_.held(owner_of(key)).total();
  }
  // The stake that the owner has in the ledger. Only this stake can be slashed, and only it may be
  // locked for work (decision 31).
  [[nodiscard]] MicroCredits slashable_stake(const OwnerId& owner) const;
  // Devices whose owner has a stake in the ledger.
  [[nodiscard]] const std::set<PublicKey>& staked() const { return staked_; }
  // Refuses to move more free credits than an owner has. `verb` names, in the message, the
  // operation that is not possible with granted credits.
  [[nodiscard]] Result<> has_free(const OwnerId& owner, MicroCredits amount,
                                  std::string_view verb) const;

  // Applies the transaction as Ledger::apply() does.
  [[nodiscard]] Result<ledger::Applied> move(ledger::Transaction transaction, Moment now);
  // Closes the job's escrow: it takes no more credits.
  void close_escrow(const JobId& id) { ledger_.close(id); }

  // Add and revoke a device of an owner; see Owners::add() and Owners::revoke().
  [[nodiscard]] Result<> add_device(const PublicKey& by, store::Device device, UnixMillis now);
  [[nodiscard]] Result<store::Device> revoke_device(const PublicKey& by, const PublicKey& key,
                                                    UnixMillis now);
  void forget_names(const OwnerId& owner);

 private:
  // Updates the book and the staked devices, from the credits that the owner can spend and from its
  // stake.
  void note_balances(const OwnerId& owner);
  void store_device(store::Device row);

  Outbox& outbox_;
  Book& book_;
  ledger::Ledger ledger_;
  ledger::Owners owners_;
  std::unordered_set<OwnerId> funded_;  // Owners that can spend credits.
  std::set<PublicKey> staked_;
};

}  // namespace weft::jobs
