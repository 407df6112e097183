#include <algorithm>

#include "apps/cli/settlement/epochs.h"
#include "apps/cli/settlement/settlement_scenes.h"

namespace weft::cli {
namespace {

__extension__ using Wide = unsigned __int128;  // GCC and Clang both support 128-bit integers.

}  // namespace

Result<std::uint64_t> EpochScene::available() {
  WEFT_OK(run_.chain().refresh());
  WEFT_ASSIGN(const std::uint64_t vault,
              tokens_in(run_.chain().rpc(), run_.line().config.key("vault")));
  return std::min(
      run_.line().config.number("charged") - run_.line().config.number("spends_posted"),
      static_cast<std::uint64_t>(Wide{vault} * run_.line().config.number("post_bps") / 10'000));
}

Result<EpochScene::Posting> EpochScene::next_posting(std::uint32_t epoch) {
  WEFT_ASSIGN(const std::uint64_t funds, available());
  const auto previous =
      run_.books().posted ? run_.books().posted->owners() : std::span<const solana::Earned>();
  WEFT_ASSIGN(settlement::EpochRows rows,
              run_.coordinator().rows(
                  previous, {.available = funds, .emission = emission_left(run_.line(), epoch)}));
  WEFT_ASSIGN(solana::SumTree tree, solana::SumTree::create(std::move(rows.rows)));
  return Posting{.tree = std::make_shared<const solana::SumTree>(std::move(tree)),
                 .emission = rows.emitted};
}

Result<SettlementStep> EpochScene::post_step(std::uint32_t epoch, const Posting& posting,
                                             const crypto::KeyPair& poster) {
  PublicKey root;
  root.bytes = posting.tree->root().hash.bytes;
  solana::ProgramCall call = run_.line().call("post");
  call.key("poster", poster.public_key())
      .key("bond_from", run_.line().tokens_of(poster.public_key()))
      .number("epoch", epoch)
      .data_key("root", root)
      .number("amount", posting.tree->root().sum)
      .number("units", posting.tree->units())
      .number("emission", posting.emission)
      .number("depth", posting.tree->depth());
  WEFT_ASSIGN(solana::Instruction instruction, run_.built(call));
  return SettlementStep{
      .what = weft::format("epoch {} is posted", epoch),
      .instructions = {std::move(instruction)},
      .signers = {&poster},
      .counts = [tree = posting.tree](SimulatedBooks& books) { books.posted = tree; }};
}

Result<> EpochScene::post(std::uint32_t epoch, bool crash) {
  WEFT_ASSIGN(const Posting posting, next_posting(epoch));
  const crypto::KeyPair& poster = run_.cast().posters[poster_];
  WEFT_ASSIGN(SettlementStep posted, post_step(epoch, posting, poster));
  if (!crash) return run_.step(std::move(posted));
  std::optional<chain::SignedTransaction> kept;
  const chain::Sender::Options following{
      .level = chain::Confirmation::processed,
      .micro_lamports = 0,
      .poll = std::chrono::milliseconds(1),
      .keep = [&kept](const chain::SignedTransaction& signed_one) -> Result<> {
        kept = signed_one;
        return {};
      }};
  chain::Sender sender(run_.chain().rpc(), following);
  const chain::Plan plan{.instructions = posted.instructions, .payer = &poster};
  WEFT_ASSIGN(const chain::Quote quote, sender.quote(plan));
  WEFT_OK(sender.launch(plan, quote));
  ++run_.tally().crashes;
  WEFT_OK(run_.coordinator().restart(false));
  chain::Sender again(run_.chain().rpc(), following);
  WEFT_OK(again.follow(*kept));
  run_.landed(posted);
  WEFT_OK(run_.look("a crash while an epoch was posted"));
  // The coordinator computes the epoch's rows again from its disk. The program must refuse this
  // epoch, because it has landed.
  return run_.refused("An epoch posted again after a crash", posted, "post_");
}

Result<> EpochScene::finalise(std::uint32_t epoch) {
  WEFT_OK(run_.chain().refresh());
  const std::uint64_t slot = epoch % solana::epochs_remembered;
  solana::ProgramCall call = run_.line().call("finalise");
  call.key("bond_to", run_.line().config.key(weft::format("epochs.{}.bond_account", slot)))
      .number("slot", slot);
  WEFT_ASSIGN(solana::Instruction instruction, run_.built(call));
  return run_.step({.what = weft::format("epoch {} is final", epoch),
                    .instructions = {std::move(instruction)},
                    .signers = {},
                    .counts = [slot](SimulatedBooks& books) {
                      books.final = books.posted;
                      books.final_slot = slot;
                    }});
}

Result<SettlementStep> EpochScene::decide_step(std::span<const std::size_t> by) {
  const std::uint64_t slot = run_.line().config.number("last_epoch") % solana::epochs_remembered;
  const std::uint64_t bond = run_.line().epoch_number(slot, "bond");
  solana::ProgramCall call = run_.line().call("decide");
  call.number("voids", 1)
      .number("thaws", 1)
      .data_key("poster", run_.cast().posters[1].public_key());
  SettlementStep out{.what = "guardians void a root and name another poster",
                     .instructions = {},
                     .signers = {},
                     .counts = {}};
  for (const std::size_t guardian : by) {
    call.signer(run_.cast().guardians[guardian].public_key());
    out.signers.push_back(&run_.cast().guardians[guardian]);
  }
  WEFT_ASSIGN(solana::Instruction instruction, run_.built(call));
  out.instructions = {std::move(instruction)};
  out.counts = [bond, honest = run_.books().final](SimulatedBooks& books) {
    books.posted = honest;
    books.forged = false;
    books.bonds_burned += bond;
  };
  return out;
}

Result<EpochScene::Posting> EpochScene::forged(std::uint64_t stolen, std::uint64_t minted) {
  std::vector<solana::Earned> rows;
  std::uint32_t next = 0;
  if (run_.books().posted) rows.assign_range(run_.books().posted->owners());
  for (const solana::Earned& row : rows) next = std::max(next, row.index + 1);
  rows.push_back({.owner = run_.cast().owners.back(),
                  .index = next,
                  .amount = stolen + minted,
                  .units = 1,
                  .emission = minted});
  WEFT_ASSIGN(solana::SumTree tree, solana::SumTree::create(std::move(rows)));
  return Posting{.tree = std::make_shared<const solana::SumTree>(std::move(tree)),
                 .emission = minted};
}

Result<> EpochScene::weigh_theft(std::uint64_t spends, std::uint64_t emission) {
  WEFT_ASSIGN(const std::uint64_t vault,
              tokens_in(run_.chain().rpc(), run_.line().config.key("vault")));
  run_.tally().stolen_most = spends + emission;
  run_.tally().stolen_bound = emission + vault / 20;
  if (run_.tally().stolen_most > run_.tally().stolen_bound)
    return run_.broken_by("the posting key is worth more than an emission and 5 % of the vault");
  return {};
}

EpochScene::Posting EpochScene::taken_from(const PublicKey& owner) {
  std::vector<solana::Earned> rows(run_.books().final->owners().begin(),
                                   run_.books().final->owners().end());
  std::uint32_t next = 0;
  for (const solana::Earned& row : rows) next = std::max(next, row.index + 1);
  const auto victim = std::ranges::find(rows, owner, &solana::Earned::owner);
  rows.push_back({.owner = run_.cast().owners.back(),
                  .index = next,
                  .amount = victim->amount,
                  .units = 0,
                  .emission = victim->emission});
  const auto robbed = std::ranges::find(rows, owner, &solana::Earned::owner);
  robbed->amount = robbed->emission = 0;
  return {.tree = std::make_shared<const solana::SumTree>(
              solana::SumTree::create(std::move(rows)).value()),
          .emission = 0};
}

Result<SettlementStep> EpochScene::show_step(const solana::SumTree& tree, std::uint64_t slot,
                                             const PublicKey& owner, const crypto::KeyPair& payer) {
  WEFT_ASSIGN(const std::uint32_t position, tree.position(owner));
  const solana::Earned& row = tree.owners()[position];
  PublicKey root;
  root.bytes = tree.root().hash.bytes;
  solana::ProgramCall call = run_.line().call("show_leaf");
  call.key("payer", payer.public_key())
      .key("leaf", run_.line().network.shown_leaf(root, position, payer.public_key()))
      .number("slot", slot)
      .number("filled", 1)
      .number("position", position)
      .data_key("owner", row.owner)
      .number("index", row.index)
      .number("amount", row.amount)
      .number("units", row.units);
  call.tail(path_bytes(tree.path(position)));
  WEFT_ASSIGN(solana::Instruction instruction, run_.built(call));
  return SettlementStep{.what = "a client shows an owner's leaf",
                        .instructions = {std::move(instruction)},
                        .signers = {&payer},
                        .counts = [](SimulatedBooks&) {}};
}

Result<SettlementStep> EpochScene::fell_step(const Posting& taken, const PublicKey& owner,
                                             const crypto::KeyPair& payer) {
  const auto leaf = [&](const solana::SumTree& tree) {
    PublicKey root;
    root.bytes = tree.root().hash.bytes;
    return run_.line().network.shown_leaf(root, tree.position(owner).value(), payer.public_key());
  };
  const std::uint64_t slot = run_.line().config.number("last_epoch") % solana::epochs_remembered;
  const std::uint64_t bond = run_.line().epoch_number(slot, "bond");
  const std::uint64_t bounty = bond * run_.line().config.number("bounty_bps") / 10'000;
  solana::ProgramCall call = run_.line().call("prove_fell");
  call.key("before", leaf(*run_.books().final))
      .key("left", leaf(*taken.tree))
      .key("right", leaf(*taken.tree))
      .key("bounty_to", run_.line().tokens_of(payer.public_key()))
      .number("slot", slot);
  WEFT_ASSIGN(solana::Instruction instruction, run_.built(call));
  return SettlementStep{
      .what = "a client voids a root that takes from an owner",
      .instructions = {std::move(instruction)},
      .signers = {},
      .counts = [burned = bond - bounty, honest = run_.books().final](SimulatedBooks& books) {
        books.posted = honest;
        books.forged = false;
        books.bonds_burned += burned;
      }};
}

Result<> EpochScene::taking(std::uint32_t epoch) {
  const auto rows = run_.books().final->owners();
  const PublicKey victim = std::ranges::max_element(rows, {}, &solana::Earned::amount)->owner;
  const crypto::KeyPair &thief = run_.cast().posters[0], &client = run_.cast().clients[0];
  const Posting taken = taken_from(victim);
  WEFT_ASSIGN(SettlementStep posted, post_step(epoch, taken, thief));
  posted.counts = [tree = taken.tree](SimulatedBooks& books) {
    books.posted = tree;
    books.forged = true;
  };
  WEFT_OK(run_.step(std::move(posted)));
  WEFT_OK(run_.chain().refresh());
  const std::uint64_t slot = epoch % solana::epochs_remembered;
  WEFT_ASSIGN(SettlementStep had,
              show_step(*run_.books().final, run_.books().final_slot, victim, client));
  WEFT_OK(run_.step(std::move(had)));
  WEFT_ASSIGN(SettlementStep has, show_step(*taken.tree, slot, victim, client));
  WEFT_OK(run_.step(std::move(has)));
  WEFT_ASSIGN(SettlementStep fell, fell_step(taken, victim, client));
  return run_.step(std::move(fell));
}

Result<> EpochScene::theft(std::uint32_t epoch) {
  if (run_.books().final) WEFT_OK(taking(epoch));
  WEFT_ASSIGN(const std::uint64_t spends, available());
  const std::uint64_t emission = emission_left(run_.line(), epoch);
  const crypto::KeyPair& thief = run_.cast().posters[0];
  WEFT_ASSIGN(const Posting more_spends, forged(spends + 1, emission));
  WEFT_ASSIGN(const SettlementStep above_spends, post_step(epoch, more_spends, thief));
  WEFT_OK(run_.refused("A root that takes more than was charged", above_spends, "post_bound"));
  WEFT_ASSIGN(const Posting more_emission, forged(spends, emission + 1));
  WEFT_ASSIGN(const SettlementStep above_emission, post_step(epoch, more_emission, thief));
  WEFT_OK(run_.refused("A root that emits too much", above_emission, "post_emission"));
  WEFT_OK(weigh_theft(spends, emission));
  WEFT_ASSIGN(const Posting most, forged(spends, emission));
  WEFT_ASSIGN(SettlementStep stolen, post_step(epoch, most, thief));
  stolen.what = "a thief posts a root";
  stolen.counts = [tree = most.tree](SimulatedBooks& books) {
    books.posted = tree;
    books.forged = true;
  };
  WEFT_OK(run_.step(std::move(stolen)));
  WEFT_OK(run_.chain().refresh());
  const std::uint64_t slot = epoch % solana::epochs_remembered;
  solana::ProgramCall final_call = run_.line().call("finalise");
  final_call.key("bond_to", run_.line().tokens_of(thief.public_key())).number("slot", slot);
  WEFT_ASSIGN(solana::Instruction final_instruction, run_.built(final_call));
  const SettlementStep shortened{
      .what = "", .instructions = {final_instruction}, .signers = {}, .counts = {}};
  WEFT_OK(run_.refused("A root made final in its window", shortened, "finalise_window"));
  WEFT_OK(void_theft(shortened));
  WEFT_ASSIGN(const SettlementStep again, post_step(epoch, most, thief));
  WEFT_OK(run_.refused("A root of the key that was stolen", again, "post_poster"));
  poster_ = 1;
  return run_.chain().warp(day / 2);  // The next day, so that the honest epoch has a whole window.
}

Result<> EpochScene::void_theft(const SettlementStep& too_early) {
  solana::ProgramCall freeze = run_.line().call("freeze");
  freeze.key("guardian", run_.cast().guardians[0].public_key());
  WEFT_ASSIGN(solana::Instruction frozen, run_.built(freeze));
  WEFT_OK(run_.step({.what = "a guardian freezes posts",
                     .instructions = {std::move(frozen)},
                     .signers = {&run_.cast().guardians[0]},
                     .counts = [](SimulatedBooks&) {}}));
  WEFT_OK(run_.chain().warp(day / 2));
  WEFT_OK(run_.refused("A frozen root made final", too_early, "finalise_frozen"));
  const std::size_t one[] = {0}, two[] = {0, 2};
  WEFT_ASSIGN(const SettlementStep alone, decide_step(one));
  WEFT_OK(run_.refused("A decision of one guardian", alone, "decide_quorum"));
  WEFT_ASSIGN(SettlementStep together, decide_step(two));
  return run_.step(std::move(together));
}

Result<> EpochScene::post_and_finalise(std::uint32_t epoch) {
  WEFT_OK(run_.chain().warp(day / 2));
  if (epoch == run_.at(0.5)) WEFT_OK(theft(epoch));
  WEFT_OK(post(epoch, epoch == run_.at(0.7)));
  WEFT_OK(run_.chain().warp(day / 2));
  return finalise(epoch);
}

}  // namespace weft::cli
