#include <algorithm>
#include <cstdio>

#include "apps/cli/settlement/epochs.h"
#include "apps/cli/settlement/settlement_scenes.h"

namespace weft::cli {

Result<> ClaimScene::open_page(std::uint32_t page) {
  if (run_.books().pages.contains(page)) return {};
  solana::ProgramCall call = run_.line().call("open_page");
  call.key("payer", run_.chain().founder().public_key())
      .key("page", run_.line().network.page(page).address)
      .number("page", page);
  WEFT_ASSIGN(solana::Instruction instruction, run_.built(call));
  return run_.step({.what = "a page is opened",
                    .instructions = {std::move(instruction)},
                    .signers = {},
                    .counts = [page](SimulatedBooks& books) { books.pages.insert(page); }});
}

Result<SettlementStep> ClaimScene::claim_step(std::size_t owner, bool pays) {
  const solana::SumTree& tree = *run_.books().final;
  WEFT_ASSIGN(const std::uint32_t position, tree.position(run_.cast().owners[owner]));
  const solana::Earned& row = tree.owners()[position];
  const auto page = run_.line().network.page(row.index / solana::owners_of_page);
  solana::ProgramCall call = run_.line().call("claim");
  call.key("page", page.address)
      .key("to", run_.line().tokens_of(run_.cast().owners[owner]))
      .number("page_bump", page.bump)
      .number("place", run_.books().final_slot | std::uint64_t{row.index} << 4U |
                           std::uint64_t{position} << 25U)
      .number("amount", row.amount)
      .number("units", row.units);
  call.tail(path_bytes(tree.path(position)));
  WEFT_ASSIGN(solana::Instruction instruction, run_.built(call));
  SettlementStep out{.what = "a claim", .instructions = {}, .signers = {}, .counts = {}};
  if (run_.books().claimed_of[owner] == 0)
    out.instructions.push_back(solana::create_associated_account(
        run_.chain().founder().public_key(), run_.cast().owners[owner], run_.line().network.mint));
  out.instructions.push_back(std::move(instruction));
  out.counts = [owner, amount = row.amount, pays](SimulatedBooks& books) {
    if (!pays) return;
    books.claimed += amount - books.claimed_of[owner];
    books.claimed_of[owner] = amount;
  };
  return out;
}

Result<> ClaimScene::claim(std::size_t owner) {
  const auto position = run_.books().final->position(run_.cast().owners[owner]);
  if (!position) return {};  // The owner has settled nothing yet.
  const solana::Earned& row = run_.books().final->owners()[*position];
  if (row.amount <= run_.books().claimed_of[owner]) return {};
  WEFT_OK(open_page(row.index / solana::owners_of_page));
  WEFT_ASSIGN(SettlementStep claiming, claim_step(owner, true));
  WEFT_OK(run_.step(std::move(claiming)));
  ++run_.tally().claims;
  return {};
}

Result<> ClaimScene::plant(std::size_t owner) {
  const auto position = run_.books().final->position(run_.cast().owners[owner]);
  if (!position || run_.books().claimed_of[owner] == 0) return {};
  const std::uint32_t index = run_.books().final->owners()[*position].index;
  const PublicKey page = run_.line().network.page(index / solana::owners_of_page).address;
  ByteVector zero;
  append_le(zero, std::uint64_t{0});
  if (run_.plants("claim-twice")) {
    WEFT_OK(run_.chain().patch(page, std::size_t{8} * (index % solana::owners_of_page), zero));
    WEFT_ASSIGN(SettlementStep again, claim_step(owner, false));
    return run_.step(std::move(again));
  }
  WEFT_OK(run_.chain().refresh());
  ByteVector fewer;
  append_le(fewer, run_.line().config.number("claimed_spends") - 1);
  for (const solana::Field& field : solana::state_layout("config").fields)
    if (field.name == "claimed_spends")
      WEFT_OK(run_.chain().patch(run_.line().config_address, field.at, fewer));
  return run_.look("a claim");
}

Result<> ClaimScene::claims() {
  for (int i = 0; i < 20; ++i) {
    const std::size_t owner = run_.below(run_.options().owners);
    const std::uint64_t before = run_.books().claimed_of[owner];
    WEFT_OK(claim(owner));
    if (run_.books().claimed_of[owner] == before) continue;
    if (run_.plants("claim-twice") || run_.plants("lost-spend")) WEFT_OK(plant(owner));
    if (run_.below(4) != 0) continue;
    WEFT_ASSIGN(const SettlementStep again, claim_step(owner, false));
    WEFT_OK(run_.refused("A second claim", again, "claim_new"));
  }
  return {};
}

Result<> ClaimScene::claim_all() {
  const std::size_t rows = run_.books().final->owners().size();
  std::size_t done = 0;
  for (std::size_t i = 0; i < run_.options().owners; ++i) {
    WEFT_OK(claim(i));
    if (++done % 1'000 == 0)
      std::fprintf(stderr, "%s\n", weft::format("claims: {} of {} owners", done, rows).c_str());
  }
  if (run_.books().claimed != run_.books().final->root().sum)
    return run_.broken_by("not all that the last epoch gives was claimed");
  return tokens_add_up();
}

Result<> ClaimScene::tokens_add_up() {
  constexpr std::size_t at_once = 100, amount_at = 64;
  for (std::size_t from = 0; from < run_.options().owners; from += at_once) {
    std::vector<PublicKey> accounts;
    for (std::size_t i = from; i < std::min<std::size_t>(from + at_once, run_.options().owners);
         ++i)
      accounts.push_back(run_.line().tokens_of(run_.cast().owners[i]));
    WEFT_ASSIGN(const auto found, run_.chain().rpc().accounts(accounts));
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::uint64_t holds = 0;
      if (found[i])
        for (std::size_t b = 8; b-- > 0;) holds = holds << 8 | found[i]->data[amount_at + b];
      if (holds != run_.books().claimed_of[from + i])
        return run_.broken_by(weft::format("{} holds {}, and its row gives {}",
                                           run_.cast().owners[from + i].text(), credits_text(holds),
                                           credits_text(run_.books().claimed_of[from + i])));
    }
  }
  return {};
}

}  // namespace weft::cli
