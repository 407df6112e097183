// Tests the promises of the policy over several seeds, against workers that are wrong at random,
// sleep, are lazy or collude. There is little extra work once reputation is earned, hardly any
// wrong result stays unfound, and cheating gains nothing.
#include <gtest/gtest.h>

#include <cmath>

#include "decisions/trust/simulation/levels.h"
#include "decisions/trust/simulation/network.h"

namespace weft::trust::simulation {
namespace {

class Networks : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Networks, KeepThePromises) {
  const Options options{.seed = GetParam()};

  const Outcome outcome = run(options);

  EXPECT_EQ(outcome.tasks, options.tasks) << "every request ends in an answer";
  EXPECT_EQ(outcome.failed_jobs, 0U);
  EXPECT_EQ(outcome.ledger_sum, 0);
  EXPECT_LE(outcome.extra_work_warm, 0.17)
      << "convicted workers come back as newcomers, and each conviction is polled";
  EXPECT_LE(outcome.wrong_share(), 1e-4) << outcome.wrong_accepted << " wrong results";
  EXPECT_EQ(outcome.kinds[static_cast<std::size_t>(Kind::honest)].convicted, 0U)
      << "no worker is convicted for being right";
  EXPECT_EQ(outcome.kinds[static_cast<std::size_t>(Kind::honest)].slashed, 0);
  for (std::size_t kind = 1; kind < outcome.kinds.size(); ++kind) {
    const KindResult& result = outcome.kinds[kind];
    if (result.workers == 0) continue;
    EXPECT_GT(result.cheats, 0U) << kind_names[kind] << " does cheat";
    EXPECT_LT(result.per_cheat(options.value), 0) << kind_names[kind];
    EXPECT_EQ(result.convicted, result.workers) << kind_names[kind];
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, Networks, testing::Range<std::uint64_t>(1, 6));

// A small job releases its held results early, so that more wrong results must be found by drawn
// checks.
TEST(Network, OfSmallJobsKeepsThePromises) {
  const Outcome outcome = run({.seed = 2, .tasks = 200'000, .job_tasks = 200});

  EXPECT_LE(outcome.wrong_share(), 1e-4);
  EXPECT_LE(outcome.extra_work_warm, 0.05);
  EXPECT_EQ(outcome.kinds[0].convicted, 0U);
}

// Shows that the promises can break and that the simulation sees it: without floors and without
// held results, sleepers are not found.
TEST(Network, WithoutTheFloorsSleepersSlipThrough) {
  Options options{.seed = 1, .workers = 100, .tasks = 200'000, .shares = {0, 0, 0.1, 0, 0}};
  options = options.without_levels();
  // The fewer checks there are, the larger the stake has to be for a worker to run tasks alone.
  options.stake = 1e6;
  options.referee.hold_max = 0;
  options.referee.checks.audit_work = 0;
  options.referee.checks.replica_floor = 0;
  options.referee.checks.trap_floor = 0;
  // Makes reputation grow faster, because it grows slowly without audits.
  options.referee.reputation.half = 3;

  const Outcome outcome = run(options);

  const KindResult& sleepers = outcome.kinds[static_cast<std::size_t>(Kind::sleeper)];
  EXPECT_GT(outcome.wrong_share(), 1e-3);
  EXPECT_GT(sleepers.accepted, 100U);
  EXPECT_GT(sleepers.gained, 0);
}

// A network of a hundred fresh wallets and ten honest workers, all without standing.
Options flooded(std::uint32_t replicas) {
  return {.seed = 4,
          .workers = 110,
          .tasks = 20'000,
          .job_tasks = 500,
          .shares = {0, 0, 0, 0, 0, 100.0 / 110},
          .stake = 0,
          .replicas = replicas};
}

TEST(Network, OfFreshWalletsGetsNothingWrongAccepted) {
  const Outcome outcome = run(flooded(2));

  EXPECT_EQ(outcome.wrong_accepted, 0U);
  EXPECT_EQ(outcome.tasks, 20'000U);
  EXPECT_EQ(outcome.failed_jobs, 0U);
  EXPECT_EQ(outcome.kinds[0].convicted, 0U);
  EXPECT_EQ(outcome.kinds[static_cast<std::size_t>(Kind::sybil)].gained, 0);
}

TEST(Network, OfFreshWalletsThatAreCountedByHeadsIsTheirs) {
  const Outcome two = run(flooded(2).without_levels());
  EXPECT_GT(two.wrong_share(), 0.8);

  const Outcome three = run(flooded(3).without_levels());
  EXPECT_EQ(three.kinds[0].convicted, three.kinds[0].workers) << "and the honest are convicted";
}

TEST(Network, OfHonestNewcomersGetsByWithoutAnyOperatorsWorker) {
  const Outcome outcome =
      run({.seed = 6, .workers = 20, .tasks = 20'000, .job_tasks = 500, .shares = {}, .stake = 0});

  EXPECT_EQ(outcome.tasks, 20'000U);
  EXPECT_EQ(outcome.wrong_accepted, 0U);
  EXPECT_EQ(outcome.kinds[0].convicted, 0U);
}

TEST(Network, ReplaysFromItsSeed) {
  const Options options{.seed = 77, .tasks = 5'000, .job_tasks = 1'000};
  const Outcome first = run(options);
  const Outcome again = run(options);

  EXPECT_EQ(first.wrong_accepted, again.wrong_accepted);
  EXPECT_EQ(first.extra_work_cold, again.extra_work_cold);
  for (std::size_t kind = 0; kind < first.kinds.size(); ++kind)
    EXPECT_EQ(first.kinds[kind].slashed, again.kinds[kind].slashed);
}

TEST(Network, OfHonestWorkersPaysForItsChecksOnly) {
  const Outcome outcome = run({.seed = 5, .tasks = 100'000, .shares = {}});

  EXPECT_EQ(outcome.wrong_accepted, 0U);
  EXPECT_EQ(outcome.kinds[0].convicted, 0U);
  EXPECT_LE(outcome.extra_work_warm, 0.05);
  EXPECT_GE(outcome.extra_work_warm, 0.02) << "the audit floor";
}

class Levels : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Levels, CheatingHasANegativeValueAtEveryReputation) {
  const auto levels = measure_levels({.seed = 3, .trials = 10'000, .parts_wrong = GetParam()});

  for (const Level& level : levels) {
    EXPECT_LT(level.expected, 0) << level.reputation;
    EXPECT_LT(level.measured + 3 * level.error, 0)
        << "reputation " << level.reputation << ": " << level.measured << " +- " << level.error;
    if (!level.alone) continue;
    EXPECT_NEAR(level.measured_detection, level.detection,
                5 * std::sqrt(level.detection / 10'000) + 0.002)
        << level.reputation;
  }
}
INSTANTIATE_TEST_SUITE_P(PartsWrong, Levels, testing::Values(1U, 2U, 8U, 32U));

}  // namespace
}  // namespace weft::trust::simulation
