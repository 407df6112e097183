// Devices that sign for an owner, their receipts, and the slashing of an owner whose device signed
// two results for one attempt.
#pragma once

#include "signature.h"
#include "stakes.h"
#include "void_root.h"

FAR u64 add_device(Context& c) {
  TRY(guard_add_device(c));
  using namespace add_device_accounts;
  const AddDeviceData d{c.data};
  const Account &who = c.a[owner], &made = c.a[add_device_accounts::device];
  REQUIRE(add_device_exists, made.size == 0);
  Key address;
  u8 bump = 0;
  const Slice seeds[5] = {
      {"device", 6}, {c.a[config].key, 32}, {who.key, 32}, {&d.device(), 32}, {&bump, 1}};
  REQUIRE(add_device_address,
          sol_try_find_program_address(seeds, 4, c.program, &address, &bump) == 0 &&
              same(address, *made.key));
  TRY(make({&who, &made, sizeof(Device), seeds, 5, c.program}));
  Device& out = made.as<Device>();
  out.kind = device_kind;
  out.version = 1;
  out.bump = bump;
  out.config = *c.a[config].key;
  out.owner = *who.key;
  out.device = d.device();
  out.added_at = now();
  return 0;
}

// A device that ends stays recorded for as long as evidence may be shown, so that its owner is
// liable for what the device signed.
FAR u64 end_device(Context& c) {
  TRY(guard_end_device(c));
  using namespace end_device_accounts;
  Device& ended = c.a[device].as<Device>();
  REQUIRE(end_device_owner, same(ended.owner, *c.a[owner].key));
  REQUIRE(end_device_once, ended.ends_at == 0);
  ended.ends_at = now() + c.a[config].as<Config>().evidence_seconds;
  return 0;
}

// SHA-256("weft-receipt-2" || genesis || program || coordinator || session nonce || worker nonce ||
// root of claims).
struct ReceiptParts {
  const Key* session;
  const Key* worker;
  const Key* root;
};
FAR void receipt_digest(const Context& c, const Config& config, const ReceiptParts& parts,
                        Key& out) {
  const Slice slices[7] = {{"weft-receipt-2", 14},    {&config.genesis, 32}, {c.program, 32},
                           {&config.coordinator, 32}, {parts.session, 32},   {parts.worker, 32},
                           {parts.root, 32}};
  sol_sha256(slices, 7, reinterpret_cast<u8*>(&out));
}

FAR u64 record_receipt(Context& c) {
  TRY(guard_record_receipt(c));
  using namespace record_receipt_accounts;
  const RecordReceiptData d{c.data};
  const Account& made = c.a[record_receipt_accounts::receipt];
  const Device& by = c.a[device].as<Device>();
  REQUIRE(record_receipt_exists, made.size == 0);
  Key digest;
  receipt_digest(c, c.a[config].as<Config>(), {&d.session(), &d.worker(), &d.root()}, digest);
  const Signed expected = {&by.device, &digest};
  TRY(require_signatures(c.a[instructions], &expected, 1));
  Key address;
  u8 bump = 0;
  const Slice seeds[4] = {{"receipt", 7}, {c.a[config].key, 32}, {&digest, 32}, {&bump, 1}};
  REQUIRE(record_receipt_address,
          sol_try_find_program_address(seeds, 3, c.program, &address, &bump) == 0 &&
              same(address, *made.key));
  TRY(make({&c.a[payer], &made, sizeof(Receipt), seeds, 4, c.program}));
  Receipt& out = made.as<Receipt>();
  out.kind = receipt_kind;
  out.version = 1;
  out.bump = bump;
  out.config = *c.a[config].key;
  out.device = *c.a[device].key;
  out.payer = *c.a[payer].key;
  out.digest = digest;
  out.root = d.root();
  out.recorded_at = now();
  return 0;
}

// Returns the lamports of an account of the program. It also clears the account's kind, so that the
// account cannot be used again in the same transaction.
FN void close(const Account& closed, const Account& to) {
  *to.lamports += *closed.lamports;
  *closed.lamports = 0;
  closed.data[0] = 0;
}

FAR u64 close_receipt(Context& c) {
  TRY(guard_close_receipt(c));
  using namespace close_receipt_accounts;
  const Receipt& old = c.a[receipt].as<Receipt>();
  REQUIRE(close_receipt_payer, same(old.payer, *c.a[payer].key));
  REQUIRE(close_receipt_time, now() >= old.recorded_at + c.a[config].as<Config>().evidence_seconds);
  close(c.a[receipt], c.a[payer]);
  return 0;
}

// A path from a claim to a receipt's root. A claim is SHA-256("weft-claim-2" || job 16 || u32 index
// || u32 attempt || result root); the root is that of the RFC 9162 tree over claims. `sides` has a
// bit for each level, lowest first, which is 1 if the path's node is the right child.
struct ClaimPath {
  const u8* task;  // job, index, attempt: 24 bytes.
  const Key* result;
  u64 sides, levels;
  const u8* siblings;
};
FAR void root_of_claim(const ClaimPath& path, Key& out) {
  u8 prefix = 0;
  const Slice claim[3] = {{"weft-claim-2", 12}, {path.task, 24}, {path.result, 32}};
  sol_sha256(claim, 3, reinterpret_cast<u8*>(&out));
  const Slice leaf[2] = {{&prefix, 1}, {&out, 32}};
  sol_sha256(leaf, 2, reinterpret_cast<u8*>(&out));
  const u8 inner = 1;
  for (u64 i = 0; i < path.levels; ++i) {
    const void* sibling = path.siblings + 32 * i;
    const bool right = path.sides >> i & 1;
    const Slice node[3] = {{&inner, 1},
                           {right ? sibling : &out, 32},
                           {right ? static_cast<const void*>(&out) : sibling, 32}};
    sol_sha256(node, 3, reinterpret_cast<u8*>(&out));
  }
}

FAR u64 slash(Context& c) {
  TRY(guard_slash(c));
  using namespace slash_accounts;
  const SlashData d{c.data};
  Config& config = c.a[slash_accounts::config].as<Config>();
  const Device& by = c.a[device].as<Device>();
  Stake& own = c.a[stake].as<Stake>();
  REQUIRE(slash_stake_owner, same(own.owner, by.owner));
  REQUIRE(slash_ended, by.ends_at == 0 || now() < by.ends_at);
  REQUIRE(slash_differ, !same(d.result_a(), d.result_b()));
  const u64 siblings = (c.length - SlashData::size) / 32;
  REQUIRE(slash_levels,
          u64(d.levels_a()) + d.levels_b() == siblings && d.levels_a() <= 8 && d.levels_b() <= 8);
  const u8* tail = c.data + SlashData::size;
  const u8* task = c.data + SlashData::job_at;
  Key root, digests[2];
  root_of_claim({task, &d.result_a(), d.sides_a(), d.levels_a(), tail}, root);
  receipt_digest(c, config, {&d.session_a(), &d.worker_a(), &root}, digests[0]);
  root_of_claim({task, &d.result_b(), d.sides_b(), d.levels_b(), tail + 32 * u64(d.levels_a())},
                root);
  receipt_digest(c, config, {&d.session_b(), &d.worker_b(), &root}, digests[1]);
  const Signed expected[2] = {{&by.device, &digests[0]}, {&by.device, &digests[1]}};
  TRY(require_signatures(c.a[instructions], expected, 2));

  const u64 whole = own.amount + own.unbonding;
  REQUIRE(slash_some, whole > 0);
  settle_rewards(config, own);
  config.staked -= own.amount;
  own.amount = 0;
  own.unbonding = 0;
  return forfeit(c.a[slash_accounts::config], whole,
                 {&c.a[mint], &c.a[stake_vault], &c.a[bounty_to]});
}
