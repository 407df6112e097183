// Owners: their devices, and what they pay each other.
#include <algorithm>

#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {

OwnerView Core::State::owner_view(const PublicKey& device) const {
  const OwnerId owner = owner_of(device);
  return {.owner = owner,
          .device = device,
          .balances = ledger.balances(owner),
          .devices = owners.devices(owner)};
}

// What a key has as an owner of its own: credits would be lost, refunds of its jobs would make one
// owner's grants of many, and a holder of an API key of it would spend another owner's balance.
Result<> Core::State::is_unused(const PublicKey& key) const {
  const auto refuse = [&](std::string_view what) {
    return fail(ErrorCode::invalid_argument, "{} {}, or make another wallet for this device.",
                key.text(), what);
  };
  if (ledger.balances(OwnerId::of_first(key)) != ledger::Balances{})
    return refuse("holds credits of its own: pay, spend or withdraw them first");
  if (std::ranges::any_of(answers.keys.list(key),
                          [](const billing::ApiKey& each) { return each.revoked == 0; }))
    return refuse("has made API keys: revoke them first (`weft key revoke`)");
  if (std::ranges::any_of(jobs, [&](const auto& job) { return job.second.row.client == key; }))
    return refuse("has a running job of its own: wait for its end or cancel it first");
  return {};
}

Result<> Core::State::has_free(const OwnerId& owner, MicroCredits amount,
                               std::string_view verb) const {
  const ledger::Funds has = ledger.spendable(owner);
  if (amount <= has.free) return {};
  return fail(
      ErrorCode::insufficient_funds,
      "The balance is {:.6f} credits, less than {:.6f}; {:.6f} granted credits cannot be {}.",
      static_cast<double>(has.free) / 1e6, static_cast<double>(amount) / 1e6,
      static_cast<double>(has.granted) / 1e6, verb);
}

void Core::show_owner(const PublicKey& device, Answer<OwnerView> answer) {
  State& state = *state_;
  Result<OwnerView> view = state.owner_view(device);
  if (auto may = state.owners.may_act(device, ledger::Owners::Wants::managing); !may)
    view = pass(std::move(may));
  state.effect([answer = std::move(answer), view = std::move(view)] { answer(view); });
}

void Core::pay(const Payment& payment, Moment now, Answer<OwnerView> answer) {
  State& state = *state_;
  const auto reply = state.replier(std::move(answer));
  if (auto may = state.owners.may_act(payment.by, ledger::Owners::Wants::spending); !may)
    return reply(pass(std::move(may)));
  if (payment.amount <= 0)
    return reply(fail(ErrorCode::invalid_argument, "The amount must be more than nothing."));
  const OwnerId from = state.owner_of(payment.by);
  const OwnerId to = state.owner_of(payment.to);
  if (payment.source == Payment::Source::balance && from == to)
    return reply(fail(ErrorCode::invalid_argument, "{} is the same owner: nothing would move.",
                      payment.to.text()));
  auto transaction = payment.source == Payment::Source::mint
                         ? ledger::issue(to, payment.amount, payment.number)
                         : ledger::transfer(from, to, payment.amount, payment.number);
  if (payment.source == Payment::Source::balance && !state.ledger.knows(transaction.key))
    if (auto has = state.has_free(from, payment.amount, "transferred"); !has)
      return reply(pass(std::move(has)));
  if (auto moved = state.move_money(std::move(transaction), now); !moved)
    return reply(pass(std::move(moved)));
  reply(state.owner_view(payment.by));
}

void Core::settle(const Settling& settling, Moment now, Answer<OwnerView> answer) {
  State& state = *state_;
  const auto reply = state.replier(std::move(answer));
  if (auto may = state.owners.may_act(settling.by, ledger::Owners::Wants::spending); !may)
    return reply(pass(std::move(may)));
  if (settling.amount < state.settings.settle_min)
    return reply(fail(ErrorCode::invalid_argument,
                      "{:.6f} credits cannot be settled: the least at a time is {:.6f}.",
                      static_cast<double>(settling.amount) / 1e6,
                      static_cast<double>(state.settings.settle_min) / 1e6));
  const OwnerId owner = state.owner_of(settling.by);
  // The chain pays the key that names the owner.
  if (const PublicKey first{{owner.bytes}}; state.owners.is_revoked(first))
    return reply(fail(ErrorCode::permission_denied,
                      "The chain would pay {}, a device that is revoked: pay the credits to "
                      "another owner of yours with `weft pay`, and settle them there.",
                      first.text()));
  auto transaction = ledger::settle(owner, settling.amount, settling.number);
  if (!state.ledger.knows(transaction.key))
    if (auto has = state.has_free(owner, settling.amount, "settled"); !has)
      return reply(pass(std::move(has)));
  if (auto moved = state.move_money(std::move(transaction), now); !moved)
    return reply(pass(std::move(moved)));
  reply(state.owner_view(settling.by));
}

void Core::add_device(const PublicKey& by, const OwnerId& to, store::Device device, Moment now,
                      Answer<OwnerView> answer) {
  State& state = *state_;
  const auto reply = state.replier(std::move(answer));
  if (state.owner_of(by) != to)
    return reply(fail(ErrorCode::permission_denied, "{} is no device of the owner {}.", by.text(),
                      to.text()));
  if (state.owner_of(device.key) == OwnerId::of_first(device.key)) {
    if (auto free_to_join = state.is_unused(device.key); !free_to_join)
      return reply(pass(std::move(free_to_join)));
  }
  // A row costs the network something, a wallet does not.
  if (state.ledger.balances(state.owner_of(by)) == ledger::Balances{})
    return reply(fail(ErrorCode::insufficient_funds,
                      "An owner without credits here has one device; {} holds none.",
                      state.owner_of(by).text()));
  const PublicKey key = device.key;
  auto changed = state.owners.add(by, std::move(device), now.unix);
  if (!changed) return reply(pass(std::move(changed)));
  for (auto& row : *changed) {
    state.parts.book.set_device(row);
    state.batch.devices.push_back(std::move(row));
  }
  const OwnerId owner = state.owner_of(by);
  state.parts.book.set_funded(key, state.funded.contains(owner));
  if (state.slashable_stake_of(owner) > 0) state.staked.insert(key);
  log_info("{} is a device of the owner {} now.", key.text(), owner.text());
  reply(state.owner_view(by));
}

void Core::revoke_device(const PublicKey& by, const PublicKey& key, Moment now,
                         Answer<OwnerView> answer) {
  State& state = *state_;
  const auto reply = state.replier(std::move(answer));
  auto revoked = state.owners.revoke(by, key, now.unix);
  if (!revoked) return reply(pass(std::move(revoked)));
  state.parts.book.set_device(*revoked);
  state.batch.devices.push_back(*revoked);
  state.parts.book.set_funded(key, false);
  state.staked.erase(key);
  if (const auto worker = state.workers.find(key); worker != state.workers.end()) {
    state.effect([&state, session = worker->second.session] {
      state.parts.world.close(session,
                              {.code = std::string(to_string(ErrorCode::permission_denied)),
                               .message = "This device was revoked by its owner."});
    });
    state.scheduler.remove_worker(key, scheduler::Departure::left, now.at);
    state.disconnect(key, now);
  }
  log_info("{} is a device of the owner {} no more.", key.text(), revoked->owner.text());
  // A device that revokes itself is shown what it left.
  reply(state.owner_view(by));
}

}  // namespace weft::jobs
