// Claims. A page remembers what 1,280 owners have claimed. An amount of the tree is cumulative, so
// that a claim pays its difference to the claimed amount.
#pragma once

#include "epochs.h"
#include "tree.h"

struct PageSeeds {
  u8 number[8];
  u8 bump[8];
  Slice slices[4];
  static __attribute__((always_inline)) void fill(PageSeeds& out, const Key* config, u64 page) {
    store<u64>(out.number, page);
    out.slices[0] = {"page", 4};
    out.slices[1] = {config, 32};
    out.slices[2] = {out.number, 4};
    out.slices[3] = {out.bump, 1};
  }
};

FAR u64 open_page(Context& c) {
  TRY(guard_open_page(c));
  using namespace open_page_accounts;
  const OpenPageData d{c.data};
  const Account& made = c.a[page];
  REQUIRE(open_page_range, d.page() <= ((1ul << depth_max) - 1) / page_owners);
  REQUIRE(open_page_exists, made.size == 0);
  PageSeeds seeds;
  PageSeeds::fill(seeds, c.a[config].key, d.page());
  Key address;
  REQUIRE(open_page_address,
          sol_try_find_program_address(seeds.slices, 3, c.program, &address, seeds.bump) == 0 &&
              same(address, *made.key));
  return make({&c.a[payer], &made, page_owners * 8, seeds.slices, 4, c.program});
}

FAR u64 claim(Context& c) {
  TRY(guard_claim(c));
  using namespace claim_accounts;
  const ClaimData d{c.data};
  Config& config = c.a[claim_accounts::config].as<Config>();
  const u64 place = d.place();
  const u64 index = place >> 4 & ((1ul << depth_max) - 1),
            position = place >> (4 + depth_max) & ((1ul << depth_max) - 1);
  const Epoch& epoch = config.epochs[place % ring];
  REQUIRE(claim_final, epoch.state == u8(EpochState::final));
  const u64 levels = (c.length - ClaimData::size) / sizeof(Node);
  REQUIRE(claim_depth, levels == epoch.depth);
  REQUIRE(claim_page_owner, same(*c.a[page].owner, *c.program));
  PageSeeds seeds;
  PageSeeds::fill(seeds, c.a[claim_accounts::config].key, index / page_owners);
  seeds.bump[0] = d.page_bump();
  Key address;
  REQUIRE(claim_page_address,
          sol_create_program_address(seeds.slices, 4, c.program, &address) == 0 &&
              same(address, *c.a[page].key));
  REQUIRE(claim_to, !same(*c.a[to].key, *c.a[vault].key));
  Node node;
  leaf_hash({&c.a[to].token_owner(), index, d.amount(), d.units()}, node.hash);
  node.sum = d.amount();
  REQUIRE(claim_path, climb({position, d.data + ClaimData::size, levels}, node) &&
                          same(node.hash, epoch.root) && node.sum == epoch.amount);
  u64& claimed = reinterpret_cast<u64*>(c.a[page].data)[index % page_owners];
  REQUIRE(claim_new, d.amount() > claimed);
  const u64 due = d.amount() - claimed;
  // A claim is paid first from the vault, by what clients spent. The rest is emission, which is
  // minted here.
  const u64 spends = config.final_spends - config.claimed_spends;
  const u64 paid = due < spends ? due : spends;
  const u64 minted = due - paid;
  REQUIRE(claim_emission, minted <= config.final_emission - config.claimed_emission);
  claimed = d.amount();
  config.claimed_spends += paid;
  config.claimed_emission += minted;
  TRY(pay(c.a[vault], c.a[to], c.a[claim_accounts::config], paid));
  return mint_to(c.a[mint], c.a[to], c.a[claim_accounts::config], minted);
}
