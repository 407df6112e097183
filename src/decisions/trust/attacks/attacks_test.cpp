// The promises of docs/proof.md on a small scale, and that the simulation sees it where a defence
// is off. `weft simulate trust --table` measures them at full scale.
#include <gtest/gtest.h>

#include <set>

#include "decisions/trust/attacks/arena.h"
#include "decisions/trust/attacks/measures.h"
#include "decisions/trust/attacks/quotes.h"
#include "decisions/trust/attacks/search.h"

namespace weft::trust::attacks {
namespace {

constexpr std::uint64_t seed = 3;

Outcome played(std::string_view name, const Scene& setup) {
  const Entry* strategy = find_strategy(name);
  EXPECT_NE(strategy, nullptr) << name;
  return play(setup, *strategy);
}

TEST(Attacks, EachHasANameOfItsOwnAndEndsWithEveryTaskAccepted) {
  std::set<std::string_view> names;
  for (const Entry& strategy : strategies()) {
    EXPECT_TRUE(names.insert(strategy.name).second) << strategy.name;

    const Outcome outcome = play(standard_setup(seed, 2'000), strategy);

    EXPECT_EQ(outcome.tasks, 2'000U) << strategy.name;
    EXPECT_EQ(outcome.jobs_failed, 0U) << strategy.name;
    EXPECT_EQ(outcome.honest_convicted, 0U) << strategy.name;
    EXPECT_EQ(outcome.honest_refused, 0U) << strategy.name;
  }
  EXPECT_EQ(find_strategy("nothing"), nullptr);
}

TEST(Attacks, ReplayFromTheirSeed) {
  const std::string first = played("one-slice", standard_setup(seed, 5'000)).json();

  EXPECT_EQ(first, played("one-slice", standard_setup(seed, 5'000)).json());
  EXPECT_NE(first, played("one-slice", standard_setup(seed + 1, 5'000)).json());
}

TEST(Attacks, OfFreshWalletsGetNothingThroughThatIsWrongInAllSlices) {
  for (const char* name : {"zeros", "copying", "sybils", "mixture"})
    EXPECT_EQ(played(name, standard_setup(seed, 10'000)).wrong_all, 0U) << name;

  Scene heads = standard_setup(seed, 10'000);
  heads.referee.defences = Defences::none();
  heads.safeguards = scheduler::Safeguards::none();
  heads.verifier = false;
  EXPECT_GT(played("sybils", heads).wrong_all, 0U);
}

TEST(Attacks, OfEstablishedPairsAreSeenByARoot) {
  Scene setup = standard_setup(seed, 10'000);
  setup.stake = 0;  // No worker works alone, so that two workers have to agree.
  EXPECT_EQ(played("sale", setup).wrong_all, 0U);

  setup.referee.defences.roots_check_pairs = false;
  EXPECT_GT(played("sale", setup).wrong_all, 0U);
}

TEST(Attacks, CostMoreThanTheyGain) {
  for (const char* name : {"one-slice", "rich", "sleepers"}) {
    const Outcome outcome = played(name, standard_setup(seed, 20'000));
    if (outcome.wrong < 5) continue;
    EXPECT_GE(outcome.cost(), promises::cost_min) << name << " " << outcome.json();
  }
}

// The verifier has more to do than it can, so that workers audit each other: honest ones call right
// what their own devices compute.
TEST(Attacks, ByClientsWhoseShadersDifferByDeviceConvictNoHonestAuditor) {
  Scene setup = standard_setup(seed, 5'000);
  setup.vendors = 2;
  setup.verifier_rate = 10;
  EXPECT_EQ(played("bait", setup).honest_convicted, 0U);

  setup.referee.defences.same_vendor_confirms = false;
  EXPECT_GT(played("bait", setup).honest_convicted, 0U);
}

TEST(Attacks, ByClientsWhoseShadersDifferByDeviceConvictNoHonestWorker) {
  Scene setup = standard_setup(seed, 10'000);
  setup.vendors = 2;
  EXPECT_EQ(played("bait", setup).honest_convicted, 0U);

  setup.referee.defences.same_vendor_confirms = false;
  EXPECT_GT(played("bait", setup).honest_convicted, 0U);
}

// Right results in other tasks of the job do not show that the one task is the same on all devices.
TEST(Attacks, ByClientsWhoseShadersDifferByDeviceInOneTaskConvictNoHonestWorker) {
  Scene setup = standard_setup(seed, 10'000);
  setup.vendors = 2;
  EXPECT_EQ(played("hidden-bait", setup).honest_convicted, 0U);

  setup.referee.defences.part_lead_to_count = 0;
  EXPECT_GT(played("hidden-bait", setup).honest_convicted, 0U);
}

TEST(Attacks, AreNotConvictedOnTheWordOfOneDevice) {
  Scene setup = standard_setup(seed, 10'000);
  EXPECT_GT(played("rich", setup).convicted, 0U);

  setup.second_device = false;
  const Outcome one = played("rich", setup);
  EXPECT_EQ(one.convicted, 0U);
  EXPECT_EQ(one.wrong_all, 0U) << "what is found wrong is refused anyway";
}

TEST(Attacks, ByHoardersSlowHonestJobsALittle) {
  const Scene setup = standard_setup(seed, 10'000);
  const double alone = play(setup, nullptr, {}).seconds;

  for (const char* name : {"silence", "sybils", "canary-killers"})
    EXPECT_LE(played(name, setup).seconds, promises::slowdown_max * alone) << name;

  // If each wrong result may be followed by another one, all tasks are run twice.
  Scene at_a_time = setup;
  at_a_time.safeguards.tries_are_spent = false;
  EXPECT_GT(played("sybils", at_a_time).seconds, promises::slowdown_max * alone);
}

TEST(Attacks, ThatEndWithTheFirstRefusalAreCorrected) {
  const Outcome outcome = played("one-strike", standard_setup(seed, 20'000));

  EXPECT_GT(outcome.wrong, 10U);
  EXPECT_LE(outcome.uncorrected_share(), promises::wrong_share_max) << outcome.json();

  // Without rechecks of suspects, a worker that leaves after its first refusal is never convicted.
  Scene later = standard_setup(seed, 20'000);
  later.referee.defences.suspects_are_rechecked = false;
  EXPECT_GT(played("one-strike", later).uncorrected_share(), promises::wrong_share_max);
}

// Each client whose jobs differ by device can cause only a bounded amount of rechecks of honest
// work.
TEST(Attacks, ByClientsWhoseShadersDifferByDeviceMakeTheVerifierDoABoundedAmount) {
  Scene setup = standard_setup(seed, 10'000);
  setup.vendors = 2;

  const Outcome outcome = played("hidden-bait", setup);

  EXPECT_GT(outcome.rechecked, 0U);
  EXPECT_EQ(outcome.honest_convicted, 0U);
  EXPECT_EQ(outcome.honest_slashed, 0);
}

TEST(Attacks, ByPumpsDoNotMoveThePrice) {
  const Scene setup = standard_setup(seed, 5'000);
  const double alone = play(setup, nullptr, {}).price;

  EXPECT_LE(played("price-pumps", setup).price, promises::price_max * alone);
}

TEST(Attacks, ByAThousandWorkersAndClientsMoveNoQuoteByATenth) {
  for (std::uint64_t each = seed; each < seed + 4; ++each)
    EXPECT_LE(quote_moved({.seed = each}), promises::quote_moved_max) << "seed " << each;
  // A client with money can let work wait, at its own cost.
  EXPECT_GT(quote_moved({.seed = seed, .credits_each = 10}), promises::quote_moved_max);
}

TEST(HonestNetwork, DoesLittleExtraWorkAndBlamesNoWorker) {
  Scene setup = standard_setup(seed, 20'000);
  setup.crashing = 0.2;
  setup.slow = 0.1;
  setup.vendors = 3;

  const Outcome outcome = play(setup, nullptr, {});

  EXPECT_EQ(outcome.tasks, 20'000U);
  EXPECT_EQ(outcome.wrong, 0U);
  EXPECT_EQ(outcome.honest_convicted, 0U);
  EXPECT_EQ(outcome.honest_slashed, 0);
  EXPECT_GE(play(standard_setup(seed, 20'000), nullptr, {}).extra_warm, 0.02)
      << "a part of every task";
}

TEST(Search, FindsTheSamePlansFromTheSameSeed) {
  const SearchOptions options{
      .seed = seed, .evaluations = 8, .tasks = 500, .best = 3, .best_tasks = 1'000, .threads = 2};
  const auto quiet = [](std::uint32_t, std::uint32_t, const Candidate&) {};
  const auto never = [] { return false; };

  const Found first = search(options, quiet, never);
  const Found again = search(options, quiet, never);

  ASSERT_EQ(first.best.size(), 3U);
  EXPECT_EQ(first.evaluations, 8U);
  for (std::size_t i = 0; i < first.best.size(); ++i) {
    EXPECT_EQ(describe(first.best[i]), describe(again.best[i]));
    EXPECT_EQ(first.best[i].outcome.json(), again.best[i].outcome.json());
  }
}

TEST(Search, EndsWithWhatThereIs) {
  std::uint32_t seen = 0;
  const Found found = search(
      {.seed = seed, .evaluations = 500, .tasks = 500, .best = 3, .best_tasks = 500, .threads = 1},
      [&](std::uint32_t done, std::uint32_t, const Candidate&) { seen = done; },
      [&] { return seen >= 60; });

  EXPECT_LT(found.evaluations, 500U);
  EXPECT_FALSE(found.best.empty());
}

// Workers that hand in each other's wrong results keep the verifier busy without end if a result
// that was refuted before counts again each time that it is looked at.
TEST(Attacks, ByWorkersThatAreRefutedByEachOthersResultsStopNoJob) {
  Scene setup = standard_setup(1, 2'000);
  EXPECT_EQ(played("own-vendor", setup).undecided, 0U);

  setup.referee.defences.refuted_once = false;
  EXPECT_GT(played("own-vendor", setup).undecided, 1'000U);
}

// A verifier that takes half a minute for each result of a new wallet, and a thousand of them.
TEST(Attacks, ByManyWalletsMakeNoNewcomersResultWaitLongerThanTenMinutes) {
  Scene setup = standard_setup(seed, 4'000);
  setup.newcomers = 40;
  setup.verifier_rate = 2;
  const Outcome outcome = played("exhaustion", setup);
  EXPECT_GT(outcome.newcomer_lag, 60) << outcome.json();
  EXPECT_LE(outcome.newcomer_lag, promises::sample_wait_max) << outcome.json();
  EXPECT_EQ(outcome.undecided, 0U);

  setup.safeguards.samples_in_time = false;
  const Outcome piles_up = played("exhaustion", setup);
  EXPECT_GT(piles_up.newcomer_lag, promises::sample_wait_max) << piles_up.json();
}

}  // namespace
}  // namespace weft::trust::attacks
