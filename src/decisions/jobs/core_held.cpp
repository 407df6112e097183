// Newcomers' pay: held when a task is paid, freed later, lost with a conviction.
#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {

bool Core::State::holds_pay_of(const PublicKey& worker) const {
  return settings.pay_held_for > std::chrono::milliseconds(0) &&
         settings.referee.defences.newcomers_decide_nothing &&
         trust.level(worker, unix_now) == trust::Level::newcomer;
}

void Core::State::move_held(ledger::Transaction transaction, std::string_view what,
                            const HeldPays::Entry& held, Moment now) {
  const PublicKey whose = held.worker == PublicKey{} ? PublicKey{{held.owner.bytes}} : held.worker;
  transaction.key = weft::format("{}:{}:{}", what, whose.text(), ++held_moves);
  const std::string key = transaction.key;
  if (const auto moved = move_money(std::move(transaction), now); !moved)
    log_error("{} cannot be posted: {}", key, moved.error().message);
}

void Core::State::free_held_pay(Moment now) {
  for (const HeldPays::Entry& each : held_pays.take_free(now.at)) {
    auto transaction = ledger::release(
        {.task = {}, .worker = each.worker, .owner = each.owner, .funds = each.funds});
    transaction.what = weft::format("frees the pay of {:.6f} credits of a new worker",
                                    static_cast<double>(each.funds.total()) / 1e6);
    move_held(std::move(transaction), "release", each, now);
  }
}

// To the verification account: a conviction enriches no party.
void Core::State::forfeit_held_pay(const PublicKey& worker, Moment now) {
  for (const HeldPays::Entry& each : held_pays.take_of(worker, owner_of(worker))) {
    auto transaction = ledger::forfeit(
        {.task = {}, .worker = each.worker, .owner = each.owner, .funds = each.funds}, {});
    transaction.what = weft::format("takes the held pay of {:.6f} credits of a convicted worker",
                                    static_cast<double>(each.funds.total()) / 1e6);
    move_held(std::move(transaction), "forfeit", each, now);
  }
}

// How long it was held before the restart is not stored: it starts again.
void Core::State::restore_held_pay(std::span<const ledger::Entry> balances, Moment now) {
  held_moves = static_cast<std::uint64_t>(now.unix) * 1000;  // Later than any before the restart.
  std::set<OwnerId> owners_of_it;
  for (const ledger::Entry& entry : balances) {
    using Kind = ledger::Account::Kind;
    if (entry.amount > 0 &&
        (entry.account.kind == Kind::held || entry.account.kind == Kind::held_granted))
      owners_of_it.insert(OwnerId{{entry.account.id}});
  }
  for (const OwnerId& owner : owners_of_it)
    held_pays.add({.worker = {}, .owner = owner, .funds = ledger.held(owner)},
                  now.at + settings.pay_held_for);
}

}  // namespace weft::jobs
