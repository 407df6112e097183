// Stakes: deposit, unbonding, withdrawal, and rewards. Fees are shared by stake and time. The
// config counts what one staked unit has earned since the start (a fixed-point number with 32
// fractional bits), and a stake remembers that count at its last change.
#pragma once

#include "calls.h"

constexpr u64 one_reward = 1ul << 32;

// Keeps a tenth of a fee for voters and gives the rest to stakers at once.
FN void share_fee(Config& config, u64 fee) {
  if (config.staked == 0) return;
  const u64 votes = fee / 10;
  config.vote_pool += votes;
  config.rewards_per_stake += scaled(fee - votes, one_reward, config.staked);
}
FN void settle_rewards(const Config& config, Stake& stake) {
  stake.rewards += scaled(stake.amount, config.rewards_per_stake - stake.rewards_mark, one_reward);
  stake.rewards_mark = config.rewards_per_stake;
}

FAR u64 add_stake(Context& c) {
  TRY(guard_stake(c));
  using namespace stake_accounts;
  const StakeData d{c.data};
  const Account &who = c.a[owner], &made = c.a[stake_accounts::stake];
  Config& totals = c.a[config].as<Config>();
  REQUIRE(stake_amount, d.amount() > 0);
  if (!same(*made.owner, *c.program)) {
    Key address;
    u8 bump = 0;
    const Slice seeds[4] = {{"stake", 5}, {c.a[config].key, 32}, {who.key, 32}, {&bump, 1}};
    REQUIRE(stake_stake_address,
            sol_try_find_program_address(seeds, 3, c.program, &address, &bump) == 0 &&
                same(address, *made.key));
    TRY(make({&who, &made, sizeof(Stake), seeds, 4, c.program}));
    Stake& fresh = made.as<Stake>();
    fresh.kind = stake_kind;
    fresh.version = 1;
    fresh.bump = bump;
    fresh.config = *c.a[config].key;
    fresh.owner = *who.key;
  } else {
    REQUIRE(stake_stake_kind, made.size == sizeof(Stake) && made.data[0] == stake_kind);
  }
  Stake& own = made.as<Stake>();
  REQUIRE(stake_stake_config, same(own.config, *c.a[config].key));
  REQUIRE(stake_stake_owner, same(own.owner, *who.key));
  settle_rewards(totals, own);
  own.amount += d.amount();
  own.staked_at = now();
  totals.staked += d.amount();
  return take(c.a[from], c.a[stake_vault], who, d.amount());
}

FAR u64 unstake(Context& c) {
  TRY(guard_unstake(c));
  using namespace unstake_accounts;
  const UnstakeData d{c.data};
  Config& totals = c.a[config].as<Config>();
  Stake& own = c.a[stake].as<Stake>();
  REQUIRE(unstake_owner, same(own.owner, *c.a[owner].key));
  REQUIRE(unstake_amount, d.amount() > 0 && d.amount() <= own.amount);
  const u64 time = now();
  REQUIRE(unstake_locked, time >= own.locked_until);
  settle_rewards(totals, own);
  own.amount -= d.amount();
  own.unbonding += d.amount();
  own.unbond_at = time + totals.unbonding_seconds;
  totals.staked -= d.amount();
  return 0;
}

FAR u64 withdraw_stake(Context& c) {
  TRY(guard_withdraw_stake(c));
  using namespace withdraw_stake_accounts;
  Stake& own = c.a[stake].as<Stake>();
  REQUIRE(withdraw_stake_owner, same(own.owner, *c.a[owner].key));
  REQUIRE(withdraw_stake_some, own.unbonding > 0);
  REQUIRE(withdraw_stake_time, now() >= own.unbond_at);
  const u64 amount = own.unbonding;
  own.unbonding = 0;
  return pay(c.a[stake_vault], c.a[to], c.a[config], amount);
}

FAR u64 take_rewards(Context& c) {
  TRY(guard_take_rewards(c));
  using namespace take_rewards_accounts;
  Stake& own = c.a[stake].as<Stake>();
  REQUIRE(take_rewards_owner, same(own.owner, *c.a[owner].key));
  settle_rewards(c.a[config].as<Config>(), own);
  const u64 amount = own.rewards;
  REQUIRE(take_rewards_some, amount > 0);
  own.rewards = 0;
  return pay(c.a[stake_vault], c.a[to], c.a[config], amount);
}
