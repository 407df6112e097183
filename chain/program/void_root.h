// Voids a root that is shown to be wrong: the totals return to those before it, and its bond is
// burned, except the bounty of the account that showed the evidence.
#pragma once

#include "epochs.h"

struct Forfeit {
  const Account* mint;
  const Account* stake_vault;
  const Account* bounty_to;  // Null if there is no bounty.
};
FAR u64 forfeit(const Account& config_account, u64 amount, const Forfeit& to) {
  Config& config = config_account.as<Config>();
  const u64 bounty = to.bounty_to ? share(amount, config.bounty_bps) : 0;
  config.burned += amount - bounty;
  if (to.bounty_to) TRY(pay(*to.stake_vault, *to.bounty_to, config_account, bounty));
  return burn(*to.stake_vault, *to.mint, config_account, amount - bounty);
}
FAR u64 void_root(const Account& config_account, Epoch& entry, const Forfeit& to) {
  Config& config = config_account.as<Config>();
  entry.state = u8(EpochState::void_);
  config.pending = 0;
  config.last_epoch = entry.epoch_before;
  config.last_amount = entry.amount_before;
  config.last_units = entry.units_before;
  config.emitted -= entry.emission;
  config.spends_posted -= entry.spends;
  return forfeit(config_account, entry.bond, to);
}
