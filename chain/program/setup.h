// The instruction init, which makes the config of a fresh mint.
#pragma once

#include "calls.h"

// True for a token account from which only the config can spend, and which cannot change: it is
// initialised and has no delegate and no other close authority.
FN bool is_vault(const Account& vault, const Key& mint, const Key& config) {
  return same(*vault.owner, token_program_key) && vault.size == token_account_size &&
         same(vault.token_mint(), mint) && same(vault.token_owner(), config) &&
         load<u32>(vault.data + 72) == 0 && vault.data[108] == 1 &&
         load<u32>(vault.data + 129) == 0;
}

FAR bool parameters_in_bounds(const Config& config) {
  const u64* values = &config.fee_bps;
  for (u64 i = 0; i < sizeof parameter_bounds / sizeof parameter_bounds[0]; ++i)
    if (values[i] < parameter_bounds[i].least || values[i] > parameter_bounds[i].most) return false;
  return true;
}
// A stake can be slashed for as long as evidence of its owner's acts can be shown.
FN bool unbonding_covers_evidence(const Config& config) {
  return config.unbonding_seconds >= config.evidence_seconds + config.challenge_seconds;
}
FN bool delay_covers_unbonding(const Config& config) {
  return config.delay_seconds >= config.unbonding_seconds;
}
FN bool epoch_covers_challenge(const Config& config) {
  return config.epoch_seconds >= config.challenge_seconds;
}

// True if no guardian is named twice, because a quorum counts keys.
FAR bool guardians_differ(const Config& config) {
  for (u64 i = 0; i < config.guardian_count && i < guardians_max; ++i)
    for (u64 j = 0; j < i; ++j)
      if (same(config.guardians[i], config.guardians[j])) return false;
  return true;
}

FAR u64 init(Context& c) {
  TRY(guard_init(c));
  using namespace init_accounts;
  const InitData d{c.data};
  const Account &m = c.a[mint], &made = c.a[config];
  REQUIRE(init_mint_owner, same(*m.owner, token_program_key));
  REQUIRE(init_mint_shape,
          m.size == mint_size && m.data[45] == 1 && m.data[44] == 6 && load<u64>(m.data + 36) == 0);
  REQUIRE(init_mint_authority, load<u32>(m.data) == 1 && same(key_at(m.data + 4), *made.key));
  REQUIRE(init_mint_freezable, load<u32>(m.data + 46) == 0);
  REQUIRE(init_vault_shape, is_vault(c.a[vault], *m.key, *made.key));
  REQUIRE(init_stake_vault_shape, is_vault(c.a[stake_vault], *m.key, *made.key));
  REQUIRE(init_treasury_shape, is_vault(c.a[treasury], *m.key, *made.key));
  REQUIRE(init_vaults_distinct, !same(*c.a[vault].key, *c.a[stake_vault].key) &&
                                    !same(*c.a[vault].key, *c.a[treasury].key) &&
                                    !same(*c.a[stake_vault].key, *c.a[treasury].key));
  REQUIRE(init_guardians, d.guardian_quorum() >= 1 && d.guardian_quorum() <= d.guardian_count() &&
                              d.guardian_count() <= guardians_max);
  REQUIRE(init_config_exists, made.size == 0);

  Key address;
  u8 bump = 0;
  const Slice seeds[3] = {{"config", 6}, {m.key, 32}, {&bump, 1}};
  REQUIRE(init_config_address,
          sol_try_find_program_address(seeds, 2, c.program, &address, &bump) == 0 &&
              same(address, *made.key));
  TRY(make({&c.a[payer], &made, sizeof(Config), seeds, 3, c.program}));
  Config& out = made.as<Config>();
  out.kind = config_kind;
  out.version = 1;
  out.bump = bump;
  out.guardian_count = d.guardian_count();
  out.guardian_quorum = d.guardian_quorum();
  out.mint = *m.key;
  out.vault = *c.a[vault].key;
  out.stake_vault = *c.a[stake_vault].key;
  out.treasury = *c.a[treasury].key;
  out.poster = d.poster();
  out.coordinator = d.coordinator();
  out.genesis = d.genesis();
  for (u64 i = 0; i < out.guardian_count && i < guardians_max; ++i)
    out.guardians[i] = d.guardians(i);
  out.genesis_time = d.genesis_time();
  out.epoch_seconds = d.epoch_seconds();
  out.emission_first = d.emission_first();
  out.halving_epochs = d.halving_epochs();
  out.cap = d.cap();
  out.initial = d.initial();
  sol_memcpy_(&out.fee_bps, d.data + InitData::size - sizeof parameter_bounds / 2,
              sizeof parameter_bounds / 2);
  REQUIRE(init_guardian_twice, guardians_differ(out));
  REQUIRE(init_parameters, parameters_in_bounds(out));
  REQUIRE(init_unbonding, unbonding_covers_evidence(out));
  REQUIRE(init_delay, delay_covers_unbonding(out));
  REQUIRE(init_epoch, epoch_covers_challenge(out) && out.epoch_seconds < 1ul << 31 &&
                          out.genesis_time < 1ul << 40);
  REQUIRE(init_halving, out.halving_epochs > 0);
  REQUIRE(init_cap, out.initial <= out.cap && out.cap < 1ul << 62);
  REQUIRE(init_founders, d.founders_amount() <= out.initial);
  REQUIRE(init_founders_account,
          !same(*c.a[founders].key, out.vault) && !same(*c.a[founders].key, out.stake_vault));
  TRY(mint_to(m, c.a[founders], made, d.founders_amount()));
  return mint_to(m, c.a[treasury], made, out.initial - d.founders_amount());
}
