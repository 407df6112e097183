// Guardians. One guardian freezes posts and the end of the challenge window; a quorum decides.
// Neither can change final claims, withdrawals or stakes.
#pragma once

#include "void_root.h"

FAR u64 freeze(Context& c) {
  TRY(guard_freeze(c));
  Config& config = c.a[freeze_accounts::config].as<Config>();
  REQUIRE(freeze_once, config.frozen == 0);
  config.frozen = 1;
  config.frozen_at = now();
  return 0;
}

// The accounts after the named ones carry the quorum's signatures. Each guardian counts once.
FN u64 guardians_signed(const Context& c, const Config& config, u64 first) {
  u64 count = 0;
  for (u64 g = 0; g < config.guardian_count; ++g)
    for (u64 i = first; i < c.count; ++i)
      if (c.a[i].signer && same(*c.a[i].key, config.guardians[g])) {
        ++count;
        break;
      }
  return count;
}

FAR u64 decide(Context& c) {
  TRY(guard_decide(c));
  using namespace decide_accounts;
  const DecideData d{c.data};
  Config& config = c.a[decide_accounts::config].as<Config>();
  REQUIRE(decide_quorum, guardians_signed(c, config, token_program + 1) >= config.guardian_quorum);
  REQUIRE(decide_action, d.voids() <= 1 && d.thaws() <= 1);
  if (!is_zero(d.poster())) config.poster = d.poster();
  if (d.voids()) {
    REQUIRE(decide_pending, config.pending == 1);
    TRY(void_root(c.a[decide_accounts::config], config.epochs[config.last_epoch % ring],
                  {&c.a[mint], &c.a[stake_vault], nullptr}));
  }
  if (d.thaws()) {
    REQUIRE(decide_frozen, config.frozen == 1);
    // The challenge window of a pending root continues with the time that was left at the freeze.
    if (config.pending)
      config.epochs[config.last_epoch % ring].posted_at += now() - config.frozen_at;
    config.frozen = 0;
  }
  return 0;
}
