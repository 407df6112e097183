// Calls of the system and token programs, addresses of the program, and arithmetic that cannot
// overflow.
#pragma once

#include "layout.h"

FN u64 now() {
  Clock clock;
  sol_get_clock_sysvar(&clock);
  return u64(clock.unix_time);
}

// value * bps / 10,000.
FN u64 share(u64 value, u64 bps) { return value / 10000 * bps + value % 10000 * bps / 10000; }

// a * b / divisor with all 128 bits of the product, or the largest number if the result needs more
// than 64 bits.
FAR u64 scaled(u64 a, u64 b, u64 divisor) {
  const u64 a_low = u32(a), a_high = a >> 32, b_low = u32(b), b_high = b >> 32;
  const u64 low = a_low * b_low, middle = a_high * b_low + (low >> 32);
  const u64 other = a_low * b_high + u32(middle);
  u64 high = a_high * b_high + (middle >> 32) + (other >> 32);
  u64 rest = other << 32 | u32(low);
  if (high >= divisor) return none;
  for (u64 i = 0; i < 64; ++i) {
    const bool carry = high >> 63;
    high = high << 1 | rest >> 63;
    rest <<= 1;
    if (carry || high >= divisor) {
      high -= divisor;
      rest |= 1;
    }
  }
  return rest;
}

// The seeds with which the program signs for a config, which is the authority of its mint and its
// vaults.
struct ConfigSeeds {
  Slice slices[3];
  Seeds seeds;
  static __attribute__((always_inline)) void fill(ConfigSeeds& out, const Config& config) {
    out.slices[0] = {"config", 6};
    out.slices[1] = {&config.mint, 32};
    out.slices[2] = {&config.bump, 1};
    out.seeds = {out.slices, 3};
  }
};

// A transfer from a token account. `authority` is the config, for which the program signs, or an
// account that signed the transaction.
struct Move {
  const Account* from;
  const Account* to;  // The mint, for a mint or a burn.
  const Account* authority;
  u64 amount;
  const Config* config;  // Null if the authority has signed.
};
enum class TokenCall : u8 { transfer = 3, mint_to = 7, burn = 8 };
FAR u64 token_call(const Move& move, TokenCall kind) {
  if (move.amount == 0) return 0;
  u8 data[16];
  data[0] = u8(kind);
  store<u64>(data + 1, move.amount);
  const Meta metas[3] = {{move.from->key, true, false},
                         {move.to->key, true, false},
                         {move.authority->key, false, true}};
  const Account infos[3] = {*move.from, *move.to, *move.authority};
  const Call call = {&token_program_key, metas, 3, data, 9};
  if (!move.config) return sol_invoke_signed_c(&call, infos, 3, nullptr, 0);
  ConfigSeeds seeds;
  ConfigSeeds::fill(seeds, *move.config);
  return sol_invoke_signed_c(&call, infos, 3, &seeds.seeds, 1);
}
FN u64 pay(const Account& from, const Account& to, const Account& config, u64 amount) {
  return token_call({&from, &to, &config, amount, &config.as<Config>()}, TokenCall::transfer);
}
FN u64 take(const Account& from, const Account& to, const Account& owner, u64 amount) {
  return token_call({&from, &to, &owner, amount, nullptr}, TokenCall::transfer);
}
FN u64 mint_to(const Account& mint, const Account& to, const Account& config, u64 amount) {
  return token_call({&mint, &to, &config, amount, &config.as<Config>()}, TokenCall::mint_to);
}
FN u64 burn(const Account& from, const Account& mint, const Account& config, u64 amount) {
  return token_call({&from, &mint, &config, amount, &config.as<Config>()}, TokenCall::burn);
}

// Makes an account of the program at an address of its own. It does not use the system program's
// CreateAccount if the address already has lamports, because a stranger can send lamports there and
// CreateAccount would then fail.
struct Make {
  const Account* payer;
  const Account* made;
  u64 size;
  const Slice* seeds;
  u64 seed_count;  // The seeds, including the bump.
  const Key* owner;
};
FAR u64 make(const Make& m) {
  Rent rent;
  sol_get_rent_sysvar(&rent);
  const u64 doubled = rent.threshold_bits == 0x3ff0000000000000 ? 1 : 2;
  const u64 needed = (128 + m.size) * rent.lamports_per_byte * doubled;
  u8 data[64];
  const Seeds signer = {m.seeds, m.seed_count};
  const Account infos[2] = {*m.payer, *m.made};
  const Meta metas[2] = {{m.payer->key, true, true}, {m.made->key, true, true}};
  Call call = {&system_program_key, metas, 2, data, 0};
  const u64 held = *m.made->lamports;
  if (held == 0) {
    store<u32>(data, 0);
    store<u64>(data + 4, needed);
    store<u64>(data + 12, m.size);
    store<Key>(data + 20, *m.owner);
    call.size = 52;
    return sol_invoke_signed_c(&call, infos, 2, &signer, 1);
  }
  if (held < needed) {
    const Meta paid[2] = {{m.payer->key, true, true}, {m.made->key, true, false}};
    store<u32>(data, 2);
    store<u64>(data + 4, needed - held);
    const Call transfer = {&system_program_key, paid, 2, data, 12};
    TRY(sol_invoke_signed_c(&transfer, infos, 2, nullptr, 0));
  }
  call.accounts = metas + 1;
  call.account_count = 1;
  store<u32>(data, 8);
  store<u64>(data + 4, m.size);
  call.size = 12;
  TRY(sol_invoke_signed_c(&call, infos, 2, &signer, 1));
  store<u32>(data, 1);
  store<Key>(data + 4, *m.owner);
  call.size = 36;
  return sol_invoke_signed_c(&call, infos, 2, &signer, 1);
}
