// Proposals on bounded parameters, keys and payments of the treasury. The weight of a vote is stake
// that existed before the proposal and is locked to the end of the vote. A proposal cannot change
// the cap, the least lengths of the windows, or the sums of the ledger.
#pragma once

#include "setup.h"
#include "stakes.h"

enum class Action : u8 { parameter, payment, poster, guardian, coordinator, count };

FAR u64 propose(Context& c) {
  TRY(guard_propose(c));
  using namespace propose_accounts;
  const ProposeData d{c.data};
  Config& config = c.a[propose_accounts::config].as<Config>();
  const Stake& by = c.a[stake].as<Stake>();
  const Account& made = c.a[proposal];
  REQUIRE(propose_owner, same(by.owner, *c.a[owner].key));
  REQUIRE(propose_stake_least, by.amount >= config.proposal_stake);
  REQUIRE(propose_action, d.action() < u8(Action::count));
  REQUIRE(propose_parameter,
          d.action() != u8(Action::parameter) ||
              d.parameter() < sizeof parameter_bounds / sizeof parameter_bounds[0]);
  Key address;
  u8 bump = 0;
  const Slice seeds[4] = {
      {"proposal", 8}, {c.a[propose_accounts::config].key, 32}, {&config.proposals, 8}, {&bump, 1}};
  REQUIRE(propose_address,
          sol_try_find_program_address(seeds, 3, c.program, &address, &bump) == 0 &&
              same(address, *made.key));
  TRY(make({&c.a[owner], &made, sizeof(Proposal), seeds, 4, c.program}));
  Proposal& out = made.as<Proposal>();
  out.kind = proposal_kind;
  out.version = 1;
  out.bump = bump;
  out.action = d.action();
  out.parameter = d.parameter();
  out.config = *c.a[propose_accounts::config].key;
  out.target = d.target();
  out.value = d.value();
  out.number = config.proposals;
  out.created_at = now();
  out.ends_at = out.created_at + config.voting_seconds;
  out.ready_at = out.ends_at + config.delay_seconds;
  out.total = config.staked;
  out.reward = config.vote_pool / 2;
  config.vote_pool -= out.reward;
  config.proposals += 1;
  return 0;
}

FAR u64 cast_vote(Context& c) {
  TRY(guard_vote(c));
  using namespace vote_accounts;
  const VoteData d{c.data};
  const Config& config = c.a[vote_accounts::config].as<Config>();
  Stake& by = c.a[stake].as<Stake>();
  Proposal& on = c.a[proposal].as<Proposal>();
  const Account& made = c.a[vote_accounts::vote];
  REQUIRE(vote_owner, same(by.owner, *c.a[owner].key));
  REQUIRE(vote_open, now() < on.ends_at);
  REQUIRE(vote_age, by.staked_at < on.created_at);
  REQUIRE(vote_weight, by.amount > 0);
  REQUIRE(vote_exists, made.size == 0);
  Key address;
  u8 bump = 0;
  const Slice seeds[4] = {{"vote", 4}, {c.a[proposal].key, 32}, {c.a[stake].key, 32}, {&bump, 1}};
  REQUIRE(vote_address, sol_try_find_program_address(seeds, 3, c.program, &address, &bump) == 0 &&
                            same(address, *made.key));
  TRY(make({&c.a[owner], &made, sizeof(Vote), seeds, 4, c.program}));
  Vote& out = made.as<Vote>();
  out.kind = vote_kind;
  out.version = 1;
  out.bump = bump;
  out.yes = d.yes() != 0;
  out.config = *c.a[vote_accounts::config].key;
  out.proposal = *c.a[proposal].key;
  out.stake = *c.a[stake].key;
  out.weight = by.amount;
  (d.yes() ? on.yes : on.no) += by.amount;
  if (by.locked_until < on.ends_at) by.locked_until = on.ends_at;
  settle_rewards(config, by);
  if (on.total > 0)
    by.rewards += scaled(on.reward, by.amount < on.total ? by.amount : on.total, on.total);
  return 0;
}

FAR u64 execute(Context& c) {
  TRY(guard_execute(c));
  using namespace execute_accounts;
  Config& config = c.a[execute_accounts::config].as<Config>();
  Proposal& on = c.a[proposal].as<Proposal>();
  REQUIRE(execute_once, on.executed == 0);
  REQUIRE(execute_ready, now() >= on.ready_at);
  REQUIRE(execute_quorum, on.yes + on.no >= share(on.total, config.quorum_bps));
  REQUIRE(execute_majority, on.yes > on.no);
  on.executed = 1;
  switch (Action(on.action)) {
    case Action::parameter:
      (&config.fee_bps)[on.parameter] = on.value;
      REQUIRE(execute_bounds, parameters_in_bounds(config));
      REQUIRE(execute_windows, unbonding_covers_evidence(config) &&
                                   delay_covers_unbonding(config) &&
                                   epoch_covers_challenge(config));
      return 0;
    case Action::payment:
      REQUIRE(execute_to, same(on.target, *c.a[to].key));
      return pay(c.a[treasury], c.a[to], c.a[execute_accounts::config], on.value);
    case Action::poster:
      config.poster = on.target;
      return 0;
    case Action::coordinator:
      config.coordinator = on.target;
      return 0;
    case Action::guardian:
      REQUIRE(execute_guardian, on.value < config.guardian_count);
      config.guardians[on.value] = on.target;
      REQUIRE(execute_guardian_twice, guardians_differ(config));
      return 0;
    case Action::count:
      break;
  }
  return 0;
}
