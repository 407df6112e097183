#include <algorithm>

#include "apps/cli/settlement/settlement_scenes.h"

namespace weft::cli {
namespace {

constexpr std::uint64_t new_fee_bps = 200;
constexpr std::uint32_t vote_epochs = 19;  // Epochs of a day; a proposal can be executed after 18.

}  // namespace

bool VoteScene::is_due(std::uint32_t epoch) const {
  return !executed_ && voted_at_ > 0 && epoch >= voted_at_ + vote_epochs;
}

Result<> VoteScene::propose_and_vote(std::uint32_t epoch) {
  const PublicKey by = run_.cast().stakers[0].public_key(),
                  proposal = run_.line().network.proposal(0);
  const auto bounds = solana::parameter_bounds();
  const auto fee = std::ranges::find(bounds, "fee_bps", &solana::ParameterBounds::name);
  solana::ProgramCall propose = run_.line().call("propose");
  propose.key("owner", by)
      .key("stake", run_.line().network.stake(by))
      .key("proposal", proposal)
      .number("action", 0)
      .number("parameter", static_cast<std::uint64_t>(fee - bounds.begin()))
      .number("value", new_fee_bps)
      .data_key("target", by);
  WEFT_ASSIGN(solana::Instruction proposed, run_.built(propose));
  WEFT_OK(run_.step({.what = "a proposal",
                     .instructions = {std::move(proposed)},
                     .signers = {&run_.cast().stakers[0]},
                     .counts = [](SimulatedBooks&) {}}));
  for (std::size_t i = 0; i < SettlementCast::voters; ++i) {
    const PublicKey stake = run_.line().network.stake(run_.cast().stakers[i].public_key());
    solana::ProgramCall vote = run_.line().call("vote");
    vote.key("owner", run_.cast().stakers[i].public_key())
        .key("stake", stake)
        .key("proposal", proposal)
        .key("vote", run_.line().network.vote(proposal, stake))
        .number("yes", i % 4 == 3 ? 0 : 1);
    WEFT_ASSIGN(solana::Instruction voted, run_.built(vote));
    const SettlementStep voting{.what = "a vote",
                                .instructions = {std::move(voted)},
                                .signers = {&run_.cast().stakers[i]},
                                .counts = [](SimulatedBooks&) {}};
    WEFT_OK(run_.step(voting));
    if (i == 0) WEFT_OK(run_.refused("A stake that votes twice", voting, "vote_exists"));
  }
  voted_at_ = epoch;
  return {};
}

Result<> VoteScene::execute() {
  solana::ProgramCall call = run_.line().call("execute");
  call.key("proposal", run_.line().network.proposal(0))
      .key("to", run_.line().config.key("treasury"));
  WEFT_ASSIGN(solana::Instruction instruction, run_.built(call));
  const SettlementStep executing{.what = "a proposal is carried out",
                                 .instructions = {std::move(instruction)},
                                 .signers = {},
                                 .counts = [](SimulatedBooks&) {}};
  WEFT_OK(run_.step(executing));
  executed_ = true;
  WEFT_OK(run_.refused("A proposal carried out twice", executing, "execute_once"));
  WEFT_OK(run_.chain().refresh());
  if (run_.line().config.number("fee_bps") != new_fee_bps)
    return run_.broken_by("the vote has not changed the fee");
  return {};
}

}  // namespace weft::cli
