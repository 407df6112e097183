// Stakes that workers put down and take back themselves.
#include <algorithm>

#include "decisions/jobs/core_state.h"

namespace weft::jobs {

MicroCredits Core::State::stake_of(const OwnerId& owner, Instant now) const {
  return slashable_stake_of(owner) + chain_stakes.of(owner, now);
}

MicroCredits Core::State::slashable_stake_of(const OwnerId& owner) const {
  return ledger.balance(ledger::Account::stake(owner));
}

MicroCredits Core::State::stake_at_risk(const PublicKey& wallet) const {
  const OwnerId owner = owner_of(wallet);
  const auto devices = owners.devices(owner);
  // It is not known yet what a convicted worker's clients are owed.
  if (std::ranges::any_of(devices, [&](const auto& device) {
        return rechecks.contains(device.key) && is_convicted(device.key);
      }))
    return ledger.balance(ledger::Account::stake(owner));
  MicroCredits sum = owed_by(owner);
  for (const auto& device : devices) {
    const auto risk = answers.at_risk.find(device.key);
    sum += trust.stakes().locked(device.key) + (risk == answers.at_risk.end() ? 0 : risk->second);
  }
  return sum;
}

MicroCredits Core::State::free_of_answers(const PublicKey& wallet) const {
  return slashable_stake_of(owner_of(wallet)) - stake_at_risk(wallet) +
         trust.stakes().locked(wallet);
}

StakeView Core::State::stake_view(const PublicKey& wallet, Moment now) const {
  return {.wallet = wallet,
          .staked = slashable_stake_of(owner_of(wallet)),
          .on_chain = chain_stakes.of(owner_of(wallet), now.at),
          .at_risk = stake_at_risk(wallet),
          .spendable = ledger.spendable(owner_of(wallet)),
          .reputation = trust.book().reputation(wallet, now.unix),
          .established = trust.book().established(wallet, now.unix),
          .suspended_until = trust.book().suspended(wallet, now.unix)
                                 ? trust.book().record(wallet).suspended_until
                                 : 0};
}

void Core::show_stake(const PublicKey& wallet, Moment now, Answer<StakeView> answer) {
  State& state = *state_;
  state.effect(
      [answer = std::move(answer), view = state.stake_view(wallet, now)] { answer(view); });
}

void Core::chain_stakes(const ChainReading& reading, Moment now, Answer<ChainReadingTaken> answer) {
  State& state = *state_;
  const auto reply = state.replier(std::move(answer));
  if (auto taken = state.chain_stakes.seen(reading.slot, reading.stakes, now.at); !taken)
    return reply(pass(std::move(taken)));
  ChainReadingTaken out{.slot = state.chain_stakes.slot(), .owners = reading.stakes.size()};
  for (const ChainStake& stake : reading.stakes) out.staked += stake.amount;
  reply(out);
}

void Core::move_stake(const StakeMove& move, Moment now, Answer<StakeView> answer) {
  State& state = *state_;
  const auto reply = state.replier(std::move(answer));
  if (!state.settings.stakes_open)
    return reply(fail(ErrorCode::permission_denied,
                      "This coordinator takes no stakes by hand (`weft serve --stakes` does)."));
  if (move.amount <= 0)
    return reply(fail(ErrorCode::invalid_argument, "The amount must be more than nothing."));
  if (auto may = state.owners.may_act(move.wallet, ledger::Owners::Wants::spending); !may)
    return reply(pass(std::move(may)));
  const OwnerId owner = state.owner_of(move.wallet);
  auto transaction = move.deposit ? ledger::deposit_stake(owner, move.amount, move.number)
                                  : ledger::withdraw_stake(owner, move.amount, move.number);
  if (!move.deposit && !state.ledger.knows(transaction.key)) {
    const MicroCredits held = state.slashable_stake_of(owner);
    const MicroCredits free = std::max<MicroCredits>(held - state.stake_at_risk(move.wallet), 0);
    if (move.amount > free)
      return reply(fail(ErrorCode::insufficient_funds,
                        "{:.6f} credits cannot be withdrawn: {:.6f} are staked and {:.6f} of them "
                        "are free; the others are at risk until open work is decided.",
                        static_cast<double>(move.amount) / 1e6, static_cast<double>(held) / 1e6,
                        static_cast<double>(free) / 1e6));
  }
  if (move.deposit && !state.ledger.knows(transaction.key))
    if (auto has = state.has_free(owner, move.amount, "staked"); !has)
      return reply(pass(std::move(has)));
  if (auto moved = state.move_money(std::move(transaction), now); !moved)
    return reply(pass(std::move(moved)));
  reply(state.stake_view(move.wallet, now));
}

}  // namespace weft::jobs
