// Deposits of clients: charges by vouchers, and withdrawals. A withdrawal with the coordinator's
// signature is immediate; without the signature there is a time-out.
#pragma once

#include "signature.h"
#include "stakes.h"

FN u64 unspent(const Escrow& escrow) {
  return escrow.deposited - escrow.withdrawn - escrow.charged;
}

FAR u64 deposit(Context& c) {
  TRY(guard_deposit(c));
  using namespace deposit_accounts;
  const DepositData d{c.data};
  const Account &who = c.a[owner], &made = c.a[escrow];
  Config& totals = c.a[config].as<Config>();
  REQUIRE(deposit_amount, d.amount() > 0);
  if (!same(*made.owner, *c.program)) {
    Key address;
    u8 bump = 0;
    const Slice seeds[4] = {{"escrow", 6}, {c.a[config].key, 32}, {who.key, 32}, {&bump, 1}};
    REQUIRE(deposit_escrow_address,
            sol_try_find_program_address(seeds, 3, c.program, &address, &bump) == 0 &&
                same(address, *made.key));
    TRY(make({&who, &made, sizeof(Escrow), seeds, 4, c.program}));
    Escrow& fresh = made.as<Escrow>();
    fresh.kind = escrow_kind;
    fresh.version = 1;
    fresh.bump = bump;
    fresh.config = *c.a[config].key;
    fresh.owner = *who.key;
  } else {
    REQUIRE(deposit_escrow_kind, made.size == sizeof(Escrow) && made.data[0] == escrow_kind);
  }
  Escrow& own = made.as<Escrow>();
  REQUIRE(deposit_escrow_config, same(own.config, *c.a[config].key));
  REQUIRE(deposit_escrow_owner, same(own.owner, *who.key));
  u64 total = 0;
  REQUIRE(deposit_overflow, !__builtin_add_overflow(totals.deposits, d.amount(), &total));
  totals.deposits += d.amount();
  own.deposited += d.amount();
  return take(c.a[from], c.a[vault], who, d.amount());
}

FAR u64 charge(Context& c) {
  TRY(guard_charge(c));
  using namespace charge_accounts;
  const ChargeData d{c.data};
  Config& totals = c.a[config].as<Config>();
  Escrow& of = c.a[escrow].as<Escrow>();
  REQUIRE(charge_forward, d.cumulative() > of.charged);
  REQUIRE(charge_funds, d.cumulative() <= of.deposited - of.withdrawn);
  u8 fields[40];
  store<Key>(fields, of.owner);
  store<u64>(fields + 32, d.cumulative());
  Key digest;
  digest_of(c, c.a[config], {"weft-voucher-1", 14, fields, 40}, digest);
  const Signed expected = {&of.owner, &digest};
  TRY(require_signatures(c.a[instructions], &expected, 1));

  const u64 amount = d.cumulative() - of.charged;
  of.charged = d.cumulative();
  const u64 fee = totals.staked == 0 ? 0 : share(amount, totals.fee_bps);
  totals.charged += amount - fee;
  totals.fees += fee;
  share_fee(totals, fee);
  return pay(c.a[vault], c.a[stake_vault], c.a[config], fee);
}

FAR u64 withdraw(Context& c) {
  TRY(guard_withdraw(c));
  using namespace withdraw_accounts;
  const WithdrawData d{c.data};
  Config& totals = c.a[config].as<Config>();
  Escrow& of = c.a[escrow].as<Escrow>();
  REQUIRE(withdraw_owner, same(of.owner, *c.a[owner].key));
  REQUIRE(withdraw_funds, d.amount() <= unspent(of));
  REQUIRE(withdraw_destination, !same(*c.a[to].key, *c.a[vault].key));
  of.withdrawn += d.amount();
  totals.withdrawals += d.amount();
  return pay(c.a[vault], c.a[to], c.a[config], d.amount());
}

FAR u64 request_withdrawal(Context& c) {
  TRY(guard_request_withdrawal(c));
  using namespace request_withdrawal_accounts;
  const RequestWithdrawalData d{c.data};
  Escrow& of = c.a[escrow].as<Escrow>();
  REQUIRE(request_withdrawal_owner, same(of.owner, *c.a[owner].key));
  REQUIRE(request_withdrawal_amount, d.amount() > 0);
  of.requested = d.amount();
  of.requested_at = now();
  return 0;
}

FAR u64 finish_withdrawal(Context& c) {
  TRY(guard_finish_withdrawal(c));
  using namespace finish_withdrawal_accounts;
  Config& totals = c.a[config].as<Config>();
  Escrow& of = c.a[escrow].as<Escrow>();
  REQUIRE(finish_withdrawal_owner, same(of.owner, *c.a[owner].key));
  REQUIRE(finish_withdrawal_requested, of.requested > 0);
  REQUIRE(finish_withdrawal_timeout, now() >= of.requested_at + totals.timeout_seconds);
  REQUIRE(finish_withdrawal_destination, !same(*c.a[to].key, *c.a[vault].key));
  const u64 free = unspent(of);
  const u64 amount = of.requested < free ? of.requested : free;
  of.requested = 0;
  of.withdrawn += amount;
  totals.withdrawals += amount;
  return pay(c.a[vault], c.a[to], c.a[config], amount);
}
