// Evidence against a pending root. A leaf that is shown to be in a tree is stored in an account of
// its own, so that evidence can use two leaves. Evidence shows that the root gives an owner less
// than the coordinator signed or than the last final root gave it, omits an owner, is not sorted,
// has an owner or an index twice, or holds a wrong sum. A path can also be demanded on the chain,
// and an unanswered demand voids the root.
#pragma once

#include "receipts.h"
#include "tree.h"

FAR u64 show_leaf(Context& c) {
  TRY(guard_show_leaf(c));
  using namespace show_leaf_accounts;
  const ShowLeafData d{c.data};
  const Config& config = c.a[show_leaf_accounts::config].as<Config>();
  const Account& made = c.a[leaf];
  const Epoch& epoch = config.epochs[d.slot() % ring];
  REQUIRE(show_leaf_state, epoch.state != u8(EpochState::none));
  const u64 levels = (c.length - ShowLeafData::size) / sizeof(Node);
  REQUIRE(show_leaf_depth, levels == epoch.depth);
  REQUIRE(show_leaf_index, d.index() < 1ul << 32);
  REQUIRE(show_leaf_exists, made.size == 0);
  Node node = {};
  if (d.filled()) {
    leaf_hash({&d.owner(), d.index(), d.amount(), d.units()}, node.hash);
    node.sum = d.amount();
  }
  const u64 position = d.position();
  REQUIRE(show_leaf_path, climb({position, c.data + ShowLeafData::size, levels}, node) &&
                              same(node.hash, epoch.root) && node.sum == epoch.amount);
  Key address;
  u8 bump = 0;
  const Slice seeds[6] = {{"leaf", 4},          {c.a[show_leaf_accounts::config].key, 32},
                          {&epoch.root, 32},    {&position, 8},
                          {c.a[payer].key, 32}, {&bump, 1}};
  REQUIRE(show_leaf_address,
          sol_try_find_program_address(seeds, 5, c.program, &address, &bump) == 0 &&
              same(address, *made.key));
  TRY(make({&c.a[payer], &made, sizeof(Shown), seeds, 6, c.program}));
  Shown& out = made.as<Shown>();
  out.kind = shown_kind;
  out.version = 1;
  out.bump = bump;
  out.filled = d.filled() != 0;
  out.config = *c.a[show_leaf_accounts::config].key;
  out.payer = *c.a[payer].key;
  out.root = epoch.root;
  out.position = position;
  if (d.filled()) {
    out.owner = d.owner();
    out.index = d.index();
    out.amount = d.amount();
    out.units = d.units();
  }
  return 0;
}

FAR u64 close_leaf(Context& c) {
  TRY(guard_close_leaf(c));
  using namespace close_leaf_accounts;
  REQUIRE(close_leaf_payer, same(c.a[leaf].as<Shown>().payer, *c.a[payer].key));
  close(c.a[leaf], c.a[payer]);
  return 0;
}

// True if `a` comes before `b` in the order of their bytes; the first byte counts most.
FAR bool before(const Key& a, const Key& b) {
  for (u64 i = 0; i < 4; ++i) {
    const u64 x = __builtin_bswap64(a.words[i]), y = __builtin_bswap64(b.words[i]);
    if (x != y) return x < y;
  }
  return false;
}

// True if the two leaves show that `owner` is missing: they are neighbours between which it would
// be, or twice the leaf at an end.
FAR bool shows_missing(const Account& left_account, const Account& right_account, const Key& owner,
                       u64 depth) {
  const Shown &left = left_account.as<Shown>(), &right = right_account.as<Shown>();
  const bool after_left = left.filled && before(left.owner, owner);
  const bool before_right = !right.filled || before(owner, right.owner);
  if (left.position + 1 == right.position) return after_left && before_right;
  if (left.position != right.position) return false;
  return (left.position == 0 && before_right) || (left.position + 1 == 1ul << depth && after_left);
}

struct Statement {
  const Key* owner;
  u64 epoch, amount, units;
};
// Checks a statement that the coordinator signed for an owner: its cumulative amount and units at
// an epoch. No later root may give the owner less.
FAR u64 require_statement(const Context& c, const Account& config, const Statement& statement,
                          const Account& instructions) {
  u8 fields[56];
  store<Key>(fields, *statement.owner);
  store<u64>(fields + 32, statement.epoch);
  store<u64>(fields + 40, statement.amount);
  store<u64>(fields + 48, statement.units);
  Key digest;
  digest_of(c, config, {"weft-statement-1", 16, fields, 56}, digest);
  const Signed expected = {&config.as<Config>().coordinator, &digest};
  return require_signatures(instructions, &expected, 1);
}

FAR u64 prove_less(Context& c) {
  TRY(guard_prove_less(c));
  using namespace prove_less_accounts;
  const ProveLessData d{c.data};
  const Account& config_account = c.a[prove_less_accounts::config];
  Epoch& epoch = config_account.as<Config>().epochs[d.slot() % ring];
  const Shown& shown = c.a[leaf].as<Shown>();
  REQUIRE(prove_less_pending, epoch.state == u8(EpochState::pending));
  REQUIRE(prove_less_root, same(shown.root, epoch.root));
  REQUIRE(prove_less_filled, shown.filled);
  REQUIRE(prove_less_less, shown.amount < d.amount() || shown.units < d.units());
  REQUIRE(prove_less_epoch, d.epoch() <= epoch.epoch);
  TRY(require_statement(c, config_account, {&shown.owner, d.epoch(), d.amount(), d.units()},
                        c.a[instructions]));
  return void_root(config_account, epoch, {&c.a[mint], &c.a[stake_vault], &c.a[bounty_to]});
}

FAR u64 prove_missing(Context& c) {
  TRY(guard_prove_missing(c));
  using namespace prove_missing_accounts;
  const ProveMissingData d{c.data};
  const Account& config_account = c.a[prove_missing_accounts::config];
  Epoch& epoch = config_account.as<Config>().epochs[d.slot() % ring];
  REQUIRE(prove_missing_pending, epoch.state == u8(EpochState::pending));
  REQUIRE(prove_missing_left_root, same(c.a[left].as<Shown>().root, epoch.root));
  REQUIRE(prove_missing_right_root, same(c.a[right].as<Shown>().root, epoch.root));
  REQUIRE(prove_missing_some, d.amount() > 0);
  REQUIRE(prove_missing_missing, shows_missing(c.a[left], c.a[right], d.owner(), epoch.depth));
  REQUIRE(prove_missing_epoch, d.epoch() <= epoch.epoch);
  TRY(require_statement(c, config_account, {&d.owner(), d.epoch(), d.amount(), d.units()},
                        c.a[instructions]));
  return void_root(config_account, epoch, {&c.a[mint], &c.a[stake_vault], &c.a[bounty_to]});
}

// True if the owner has less than in `before`, is at another index (at which nothing counts as
// claimed), or is missing.
FAR bool shows_loss(const Shown& before, const Account& left, const Account& right, u64 depth) {
  const Shown& now = left.as<Shown>();
  if (now.filled && same(now.owner, before.owner))
    return now.amount < before.amount || now.units < before.units || now.index != before.index;
  return before.amount > 0 && shows_missing(left, right, before.owner, depth);
}

FAR u64 prove_fell(Context& c) {
  TRY(guard_prove_fell(c));
  using namespace prove_fell_accounts;
  const ProveFellData d{c.data};
  const Account& config_account = c.a[prove_fell_accounts::config];
  Config& config = config_account.as<Config>();
  Epoch& epoch = config.epochs[d.slot() % ring];
  const Epoch& earlier = config.epochs[epoch.epoch_before % ring];
  const Shown& had = c.a[prove_fell_accounts::before].as<Shown>();
  REQUIRE(prove_fell_pending, epoch.state == u8(EpochState::pending));
  // Only the last final root counts: if a wrong root became final, the next roots continue from it.
  REQUIRE(prove_fell_final, earlier.state == u8(EpochState::final));
  REQUIRE(prove_fell_before_root, same(had.root, earlier.root));
  REQUIRE(prove_fell_left_root, same(c.a[left].as<Shown>().root, epoch.root));
  REQUIRE(prove_fell_right_root, same(c.a[right].as<Shown>().root, epoch.root));
  REQUIRE(prove_fell_filled, had.filled);
  REQUIRE(prove_fell_fell, shows_loss(had, c.a[left], c.a[right], epoch.depth));
  return void_root(config_account, epoch, {&c.a[mint], &c.a[stake_vault], &c.a[bounty_to]});
}

FAR u64 prove_order(Context& c) {
  TRY(guard_prove_order(c));
  using namespace prove_order_accounts;
  const ProveOrderData d{c.data};
  const Account& config_account = c.a[prove_order_accounts::config];
  Epoch& epoch = config_account.as<Config>().epochs[d.slot() % ring];
  const Shown &first = c.a[left].as<Shown>(), &second = c.a[right].as<Shown>();
  REQUIRE(prove_order_pending, epoch.state == u8(EpochState::pending));
  REQUIRE(prove_order_left_root, same(first.root, epoch.root));
  REQUIRE(prove_order_right_root, same(second.root, epoch.root));
  REQUIRE(prove_order_positions, first.position < second.position);
  REQUIRE(prove_order_wrong, second.filled && (!first.filled || first.index == second.index ||
                                               !before(first.owner, second.owner)));
  return void_root(config_account, epoch, {&c.a[mint], &c.a[stake_vault], &c.a[bounty_to]});
}

FAR u64 prove_sum(Context& c) {
  TRY(guard_prove_sum(c));
  using namespace prove_sum_accounts;
  const ProveSumData d{c.data};
  const Account& config_account = c.a[prove_sum_accounts::config];
  Epoch& epoch = config_account.as<Config>().epochs[d.slot() % ring];
  REQUIRE(prove_sum_pending, epoch.state == u8(EpochState::pending));
  struct {
    u8 room[7];
    u8 prefix;
    Node children[2];
  } pair;
  pair.prefix = 1;
  pair.children[0] = {d.left(), d.left_sum()};
  pair.children[1] = {d.right(), d.right_sum()};
  const Slice slice = {&pair.prefix, 81};
  Node node;
  sol_sha256(&slice, 1, reinterpret_cast<u8*>(&node.hash));
  node.sum = d.sum();
  REQUIRE(prove_sum_path, climb({d.position(), c.data + ProveSumData::size,
                                 (c.length - ProveSumData::size) / sizeof(Node)},
                                node) &&
                              same(node.hash, epoch.root) && node.sum == epoch.amount);
  u64 total = 0;
  REQUIRE(prove_sum_wrong,
          __builtin_add_overflow(d.left_sum(), d.right_sum(), &total) || total != d.sum());
  return void_root(config_account, epoch, {&c.a[mint], &c.a[stake_vault], &c.a[bounty_to]});
}

// The largest value of the counter. An operator could demand paths itself and answer late, to leave
// no room for other demands; it would have to pay the lamports of all of them.
constexpr u64 demands_max = 65'535;

FAR u64 demand_path(Context& c) {
  TRY(guard_demand(c));
  using namespace demand_accounts;
  const DemandData d{c.data};
  Config& config = c.a[demand_accounts::config].as<Config>();
  Epoch& epoch = config.epochs[d.slot() % ring];
  const Account& made = c.a[demand_accounts::demand];
  REQUIRE(demand_pending, epoch.state == u8(EpochState::pending));
  REQUIRE(demand_window, now() < epoch.posted_at + config.challenge_seconds);
  REQUIRE(demand_many, epoch.demands < demands_max);
  REQUIRE(demand_exists, made.size == 0);
  Key address;
  u8 bump = 0;
  const Slice seeds[5] = {{"demand", 6},
                          {c.a[demand_accounts::config].key, 32},
                          {&epoch.post, 8},
                          {&d.owner(), 32},
                          {&bump, 1}};
  REQUIRE(demand_address, sol_try_find_program_address(seeds, 4, c.program, &address, &bump) == 0 &&
                              same(address, *made.key));
  TRY(make({&c.a[payer], &made, sizeof(Demand), seeds, 5, c.program}));
  Demand& out = made.as<Demand>();
  out.kind = demand_kind;
  out.version = 1;
  out.bump = bump;
  out.config = *c.a[demand_accounts::config].key;
  out.owner = d.owner();
  out.payer = *c.a[payer].key;
  out.post = epoch.post;
  out.made_at = now();
  epoch.demands += 1;
  // The account that demands a path pays the operator's cost of the answer.
  u8 data[16];
  store<u32>(data, 2);
  store<u64>(data + 4, config.demand_lamports);
  const Meta metas[2] = {{c.a[payer].key, true, true}, {made.key, true, false}};
  const Account infos[2] = {c.a[payer], made};
  const Call call = {&system_program_key, metas, 2, data, 12};
  return sol_invoke_signed_c(&call, infos, 2, nullptr, 0);
}

FAR u64 answer(Context& c) {
  TRY(guard_answer(c));
  using namespace answer_accounts;
  const AnswerData d{c.data};
  Epoch& epoch = c.a[answer_accounts::config].as<Config>().epochs[d.slot() % ring];
  const Demand& asked = c.a[demand].as<Demand>();
  const Shown& shown = c.a[left].as<Shown>();
  REQUIRE(answer_pending, epoch.state == u8(EpochState::pending));
  REQUIRE(answer_post, asked.post == epoch.post);
  REQUIRE(answer_left_root, same(shown.root, epoch.root));
  REQUIRE(answer_right_root, same(c.a[right].as<Shown>().root, epoch.root));
  REQUIRE(answer_shows, (shown.filled && same(shown.owner, asked.owner)) ||
                            shows_missing(c.a[left], c.a[right], asked.owner, epoch.depth));
  epoch.demands -= 1;
  close(c.a[demand], c.a[answerer]);
  return 0;
}

FAR u64 void_unanswered(Context& c) {
  TRY(guard_void_unanswered(c));
  using namespace void_unanswered_accounts;
  const Account& config_account = c.a[void_unanswered_accounts::config];
  Config& config = config_account.as<Config>();
  Epoch& epoch = config.epochs[config.last_epoch % ring];
  const Demand& asked = c.a[demand].as<Demand>();
  REQUIRE(void_unanswered_payer, same(asked.payer, *c.a[payer].key));
  // If the root is no longer pending, the demand's lamports are returned and nothing else happens.
  const bool pending = config.pending && asked.post == epoch.post;
  REQUIRE(void_unanswered_time, !pending || now() >= asked.made_at + config.challenge_seconds);
  close(c.a[demand], c.a[payer]);
  return pending
             ? void_root(config_account, epoch, {&c.a[mint], &c.a[stake_vault], &c.a[bounty_to]})
             : 0;
}
