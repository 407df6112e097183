// Epochs: posting a root with a bond, and making it final after its challenge window. Only one root
// can be pending at a time, so that an attacker who holds the posting key for a window gains at
// most one emission and one share of the vault.
#pragma once

#include "calls.h"

enum class EpochState : u8 { none, pending, final, void_ };

// The most that epoch e may emit: E0 halved every `halving_epochs`, within the cap.
FN u64 emission_of(const Config& config, u64 epoch) {
  const u64 halvings = epoch / config.halving_epochs;
  const u64 planned = halvings < 64 ? config.emission_first >> halvings : 0;
  const u64 left = config.cap - config.initial - config.emitted;
  return planned < left ? planned : left;
}

FAR u64 post(Context& c) {
  TRY(guard_post(c));
  using namespace post_accounts;
  const PostData d{c.data};
  Config& config = c.a[post_accounts::config].as<Config>();
  REQUIRE(post_frozen, config.frozen == 0);
  REQUIRE(post_pending, config.pending == 0);
  REQUIRE(post_order, d.epoch() > config.last_epoch);
  REQUIRE(post_range, d.epoch() < 1ul << 32);
  const u64 time = now();
  REQUIRE(post_due, time >= config.genesis_time + d.epoch() * config.epoch_seconds);
  REQUIRE(post_depth, d.depth() <= depth_max);
  REQUIRE(post_amount, d.amount() >= config.last_amount);
  REQUIRE(post_units, d.units() >= config.last_units);
  // Amounts that the poster calls emission are never paid out of the vault, and amounts that it
  // calls spends are never minted. So credits that are still in the ledger stay covered by charged
  // vouchers.
  const u64 grown = d.amount() - config.last_amount;
  const u64 emission_most = emission_of(config, d.epoch());
  REQUIRE(post_emission, d.emission() <= emission_most);
  // If the emission is above the growth, the subtraction wraps, and the spends are far above all
  // that was ever charged.
  const u64 spends = grown - d.emission();
  const u64 charged = config.charged - config.spends_posted;
  const u64 bound = share(c.a[vault].token_amount(), config.post_bps);
  REQUIRE(post_bound, spends <= charged && spends <= bound);

  Epoch& entry = config.epochs[d.epoch() % ring];
  // The entry of the last final root must stay, because it holds all that owners have not claimed.
  REQUIRE(post_ring, entry.state != u8(EpochState::final) || entry.epoch != config.last_epoch);

  const u64 bond = emission_most > config.bond_min ? emission_most : config.bond_min;
  entry.epoch = d.epoch();
  entry.posted_at = time;
  entry.root = d.root();
  entry.amount = d.amount();
  entry.units = d.units();
  entry.emission = d.emission();
  entry.spends = spends;
  entry.bond = bond;
  entry.state = u8(EpochState::pending);
  entry.depth = d.depth();
  entry.demands = 0;
  entry.bond_account = *c.a[bond_from].key;
  entry.amount_before = config.last_amount;
  entry.units_before = config.last_units;
  entry.epoch_before = config.last_epoch;
  entry.post = ++config.posts;
  config.pending = 1;
  config.last_epoch = d.epoch();
  config.last_amount = d.amount();
  config.last_units = d.units();
  config.emitted += entry.emission;
  config.spends_posted += spends;
  return take(c.a[bond_from], c.a[stake_vault], c.a[poster], bond);
}

FAR u64 finalise(Context& c) {
  TRY(guard_finalise(c));
  using namespace finalise_accounts;
  const FinaliseData d{c.data};
  Config& config = c.a[finalise_accounts::config].as<Config>();
  REQUIRE(finalise_slot, d.slot() < ring);
  Epoch& entry = config.epochs[d.slot() % ring];
  REQUIRE(finalise_state, entry.state == u8(EpochState::pending));
  REQUIRE(finalise_frozen, config.frozen == 0);
  REQUIRE(finalise_window, now() >= entry.posted_at + config.challenge_seconds);
  REQUIRE(finalise_demands, entry.demands == 0);
  REQUIRE(finalise_bond_to, same(entry.bond_account, *c.a[bond_to].key));
  entry.state = u8(EpochState::final);
  config.pending = 0;
  config.final_spends += entry.spends;
  config.final_emission += entry.emission;
  return pay(c.a[stake_vault], c.a[bond_to], c.a[finalise_accounts::config], entry.bond);
}
