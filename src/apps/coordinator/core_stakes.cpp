// Stakes that workers put down and take back themselves.
#include <algorithm>

#include "apps/coordinator/core_state.h"

namespace weft::coordinator {

MicroCredits Core::State::stake_at_risk(const PublicKey& wallet) const {
  const auto risk = answers.at_risk.find(wallet);
  return trust.stakes().locked(wallet) + (risk == answers.at_risk.end() ? 0 : risk->second);
}

MicroCredits Core::State::free_of_answers(const PublicKey& wallet) const {
  const auto risk = answers.at_risk.find(wallet);
  return ledger.balance(ledger::Account::stake(wallet)) - (risk == answers.at_risk.end() ? 0 : risk->second);
}

StakeView Core::State::stake_view(const PublicKey& wallet, UnixMillis now) const {
  return {.wallet = wallet,
          .staked = ledger.balance(ledger::Account::stake(wallet)),
          .at_risk = stake_at_risk(wallet),
          .worker = ledger.balance(ledger::Account::worker(wallet)),
          .client = ledger.balance(ledger::Account::client(wallet)),
          .reputation = trust.book().reputation(wallet, now),
          .established = trust.established(wallet, now),
          .suspended_until = trust.book().suspended(wallet, now) ? trust.book().record(wallet).suspended_until : 0};
}

void Core::show_stake(const PublicKey& wallet, Moment now, Answer<StakeView> answer) {
  State& state = *state_;
  state.effect([answer = std::move(answer), view = state.stake_view(wallet, now.unix)] { answer(view); });
}

void Core::move_stake(const StakeMove& move, Moment now, Answer<StakeView> answer) {
  State& state = *state_;
  const auto reply = [&](Result<StakeView> result) { state.effect([answer = std::move(answer), result = std::move(result)] { answer(result); }); };
  if (!state.settings.stakes_open)
    return reply(fail(ErrorCode::permission_denied, "This coordinator takes no stakes by hand (`weft serve --stakes` does)."));
  if (move.amount <= 0) return reply(fail(ErrorCode::invalid_argument, "The amount must be more than nothing."));
  const auto account = move.as_worker ? ledger::Account::worker(move.wallet) : ledger::Account::client(move.wallet);
  auto transaction = move.deposit ? ledger::deposit_stake(account, move.wallet, move.amount, move.number)
                                  : ledger::withdraw_stake(move.wallet, account, move.amount, move.number);
  if (!move.deposit && !state.ledger.knows(transaction.key)) {
    const MicroCredits held = state.ledger.balance(ledger::Account::stake(move.wallet));
    const MicroCredits free = std::max<MicroCredits>(held - state.stake_at_risk(move.wallet), 0);
    if (move.amount > free)
      return reply(fail(ErrorCode::insufficient_funds,
                        "{:.6f} credits are staked and {:.6f} of them are free; the others are at risk for work that is not decided.",
                        static_cast<double>(held) / 1e6, static_cast<double>(free) / 1e6));
  }
  if (auto moved = state.move_money(std::move(transaction), now); !moved) return reply(pass(std::move(moved)));
  reply(state.stake_view(move.wallet, now.unix));
}

}  // namespace weft::coordinator
