#include "apps/cli/settlement/simulate_settlement.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "apps/cli/exit_code.h"
#include "apps/cli/settlement/epochs.h"
#include "apps/cli/settlement/settlement_run.h"
#include "apps/cli/settlement/settlement_scenes.h"
#include "common/json/quote.h"

namespace weft::cli {
namespace {

// Runs the scenes in their order: some at a certain share of the epochs, others in every epoch.
class SettlementPlay {
 public:
  explicit SettlementPlay(SettlementRun& run)
      : run_(run), money_(run), charges_(run), epochs_(run), claims_(run), vote_(run) {}

  [[nodiscard]] Result<> play();

 private:
  // Settles, posts, finalises and claims everything, and checks that every owner holds its row's
  // amount.
  [[nodiscard]] Result<> close();
  // Posts epochs until the rows give everything that was settled.
  [[nodiscard]] Result<> pay_all();
  // Charges the operator's own deposit by the amount that fees took, and leaves those credits in
  // the ledger.
  [[nodiscard]] Result<> charge_fees();
  void progress(std::uint32_t epoch);

  SettlementRun& run_;
  MoneyScene money_;
  ChargeScene charges_;
  EpochScene epochs_;
  ClaimScene claims_;
  VoteScene vote_;
};

Result<> SettlementPlay::play() {
  const std::uint32_t epochs = run_.options().epochs;
  WEFT_OK(run_.open());
  WEFT_OK(money_.found());
  WEFT_OK(run_.chain().warp(day / 2));
  for (std::uint32_t epoch = 1; epoch <= epochs; ++epoch) {
    if (epoch == run_.at(0.1)) WEFT_OK(vote_.propose_and_vote(epoch));
    if (vote_.is_due(epoch)) WEFT_OK(vote_.execute());
    WEFT_OK(charges_.charges_and_credits(epoch));
    WEFT_OK(charges_.work_and_settle(epoch));
    WEFT_OK(money_.ways_out());
    WEFT_OK(epochs_.post_and_finalise(epoch));
    WEFT_OK(claims_.claims());
    if (epoch % std::max(1U, epochs / 20) == 0) progress(epoch);
  }
  return close();
}

Result<> SettlementPlay::close() {
  if (!vote_.executed()) {
    WEFT_OK(run_.chain().warp(19 * day));
    WEFT_OK(vote_.execute());
  }
  const auto& owners = run_.cast().owners;
  for (std::size_t i = 0; i < run_.options().owners; ++i)
    WEFT_OK(run_.coordinator().settle(owners[i]));
  WEFT_OK(pay_all());
  return claims_.claim_all();
}

Result<> SettlementPlay::charge_fees() {
  WEFT_OK(run_.chain().refresh());
  const std::uint64_t fees = run_.line().config.number("fees");
  const std::uint64_t charged = run_.charged_by(run_.chain().founder().public_key());
  const std::uint64_t wanted = fees + fees / 10;
  return charged < wanted ? charges_.charge(run_.chain().founder(), wanted - charged) : Result<>();
}

Result<> SettlementPlay::pay_all() {
  std::uint32_t epoch = run_.options().epochs;
  for (int i = 0; i < 60; ++i) {
    WEFT_OK(charge_fees());
    WEFT_OK(charges_.wait_for_final());
    WEFT_OK(charges_.credit(SimulatedCoordinator::Crash::none));
    WEFT_OK(run_.chain().warp(day / 2));
    WEFT_OK(epochs_.post(++epoch, false));
    WEFT_OK(run_.chain().warp(day / 2));
    WEFT_OK(epochs_.finalise(epoch));
    const solana::SumTree& last = *run_.books().final;
    const std::uint64_t rows = last.root().sum - emission_in(last.owners());
    if (rows == static_cast<std::uint64_t>(run_.coordinator().sums().settled)) break;
  }
  return {};
}

void SettlementPlay::progress(std::uint32_t epoch) {
  const SettlementTally& tally = run_.tally();
  const solana::SumTree& posted = *run_.books().posted;
  std::fprintf(stderr, "%s\n",
               weft::format("epoch {} of {}: {} steps, {} refused, {} claims, {} owners, {} posted",
                            epoch, run_.options().epochs, tally.steps, tally.refused, tally.claims,
                            posted.owners().size(), credits_text(posted.root().sum))
                   .c_str());
}

std::string outcome_json(const SimulateSettlementOptions& options, const SettlementRun& run,
                         double seconds) {
  const SettlementTally& t = run.tally();
  return weft::format(
      R"({{"seed":{},"epochs":{},"owners":{},"steps":{},"refused":{},"looks":{},"claims":{},"claimed":{},"crashes":{},"forks":{},"forked":{},"stolen_most":{},"stolen_bound":{},"seconds":{:.1f},"kept":{},"broken":{}}})",
      options.seed, options.epochs, options.owners, t.steps, t.refused, run.looks(), t.claims,
      run.books().claimed, t.crashes, t.forks, t.forked, t.stolen_most, t.stolen_bound, seconds,
      run.broken().empty(), run.broken().empty() ? "null" : json::quote(run.broken()));
}

}  // namespace

int simulate_settlement_command(const SimulateSettlementOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  SettlementRun run(options);
  const Result<> done = SettlementPlay(run).play();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (!done && run.broken().empty()) return report("simulate settlement", done.error());
  if (options.json) {
    std::printf("%s\n", outcome_json(options, run, seconds).c_str());
  } else {
    const SettlementTally& t = run.tally();
    std::printf(
        "%s\n",
        weft::format(
            "seed {}: {} epochs, {} owners: {} steps and {} refused attempts, the sums looked at "
            "{} times; {} crashes, {} forks that took {} transactions back; {} claims paid {}. The "
            "stolen posting key could have taken {} at most, of {} that it may; it took nothing. "
            "{:.0f} s.",
            options.seed, options.epochs, options.owners, t.steps, t.refused, run.looks(),
            t.crashes, t.forks, t.forked, t.claims, credits_text(run.books().claimed),
            credits_text(t.stolen_most), credits_text(t.stolen_bound), seconds)
            .c_str());
  }
  if (!run.broken().empty())
    std::fprintf(stderr, "weft simulate settlement: BROKEN. %s.\n", run.broken().c_str());
  return run.broken().empty() ? 0 : 1;
}

}  // namespace weft::cli
