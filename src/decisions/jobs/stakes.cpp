#include "decisions/jobs/stakes.h"

#include <algorithm>
#include <utility>

namespace weft::jobs {

MicroCredits Stakes::stake_of(const OwnerId& owner, Instant now) const {
  return tables_.accounts.slashable_stake(owner) + chain_.of(owner, now);
}

MicroCredits Stakes::at_risk(const PublicKey& wallet) const {
  const OwnerId owner = tables_.accounts.owner_of(wallet);
  const auto devices = tables_.accounts.owners().devices(owner);
  // The debts to a convicted worker's clients are not known yet.
  if (std::ranges::any_of(devices,
                          [&](const auto& device) { return claims_.may_take_all(device.key); }))
    return tables_.accounts.ledger().balance(ledger::Account::stake(owner));
  MicroCredits sum = claims_.owed_by(owner);
  for (const auto& device : devices) {
    const auto risk = answers_at_risk_.find(device.key);
    sum += tables_.trust.stakes().locked(device.key) +
           (risk == answers_at_risk_.end() ? 0 : risk->second);
  }
  return sum;
}

MicroCredits Stakes::free_of_answers(const PublicKey& wallet) const {
  return tables_.accounts.slashable_stake(tables_.accounts.owner_of(wallet)) - at_risk(wallet) +
         tables_.trust.stakes().locked(wallet);
}

StakeView Stakes::view(const PublicKey& wallet, Moment now) const {
  return {.wallet = wallet,
          .staked = tables_.accounts.slashable_stake(tables_.accounts.owner_of(wallet)),
          .on_chain = chain_.of(tables_.accounts.owner_of(wallet), now.at),
          .at_risk = at_risk(wallet),
          .spendable = tables_.accounts.ledger().spendable(tables_.accounts.owner_of(wallet)),
          .reputation = tables_.trust.book().reputation(wallet, now.unix),
          .established = tables_.trust.book().established(wallet, now.unix),
          .suspended_until = tables_.trust.book().suspended(wallet, now.unix)
                                 ? tables_.trust.book().record(wallet).suspended_until
                                 : 0};
}

void Stakes::show(const PublicKey& wallet, Moment now, Answer<StakeView> answer) {
  tables_.outbox.replier(std::move(answer))(view(wallet, now));
}

void Stakes::read_chain(const ChainReading& reading, Moment now, Answer<ChainReadingTaken> answer) {
  const auto reply = tables_.outbox.replier(std::move(answer));
  if (auto taken = chain_.seen(reading.slot, reading.stakes, now.at); !taken)
    return reply(pass(std::move(taken)));
  ChainReadingTaken out{.slot = chain_.slot(), .owners = reading.stakes.size()};
  for (const ChainStake& stake : reading.stakes) out.staked += stake.amount;
  reply(out);
}

void Stakes::move(const StakeMove& move, Moment now, Answer<StakeView> answer) {
  const auto reply = tables_.outbox.replier(std::move(answer));
  if (!tables_.settings.stakes_open)
    return reply(fail(ErrorCode::permission_denied,
                      "Workers cannot deposit or withdraw stakes at this coordinator (`weft serve "
                      "--stakes` allows it)."));
  if (move.amount <= 0)
    return reply(fail(ErrorCode::invalid_argument, "The amount must be above 0."));
  if (auto may = tables_.accounts.may_spend(move.wallet); !may) return reply(pass(std::move(may)));
  const OwnerId owner = tables_.accounts.owner_of(move.wallet);
  auto transaction = move.deposit ? ledger::deposit_stake(owner, move.amount, move.number)
                                  : ledger::withdraw_stake(owner, move.amount, move.number);
  if (!move.deposit && !tables_.accounts.ledger().knows(transaction.key)) {
    const MicroCredits held = tables_.accounts.slashable_stake(owner);
    const MicroCredits free = std::max<MicroCredits>(held - at_risk(move.wallet), 0);
    if (move.amount > free)
      return reply(fail(ErrorCode::insufficient_funds,
                        "{:.6f} credits cannot be withdrawn: {:.6f} are staked and {:.6f} of them "
                        "are free; the others are at risk until open work is decided.",
                        static_cast<double>(move.amount) / 1e6, static_cast<double>(held) / 1e6,
                        static_cast<double>(free) / 1e6));
  }
  if (move.deposit && !tables_.accounts.ledger().knows(transaction.key))
    if (auto has = tables_.accounts.has_free(owner, move.amount, "staked"); !has)
      return reply(pass(std::move(has)));
  if (auto moved = tables_.accounts.move(std::move(transaction), now); !moved)
    return reply(pass(std::move(moved)));
  reply(view(move.wallet, now));
}

void Stakes::release(const PublicKey& worker, MicroCredits amount) {
  MicroCredits& risk = answers_at_risk_[worker];
  risk -= amount;
  if (risk <= 0) answers_at_risk_.erase(worker);
}

}  // namespace weft::jobs
