// Tests the part of a stake that is locked for a task and for a mismatch, and the penalty of a
// conviction.
#include "decisions/trust/task_stakes.h"

#include <gtest/gtest.h>

#include "decisions/trust/test_parts.h"

namespace weft::trust {
namespace {

constexpr MicroCredits value = 1000;

class TaskStakesTest : public testing::Test {
 protected:
  PartTables tables;
  TaskStakes& stakes = tables.stakes;
  const JobTerms terms{.replicas = 2, .parts = 32};
};

TEST_F(TaskStakesTest, ATaskIsDoneAloneOnlyByAnEstablishedWorkerWhoseFreeStakeReaches) {
  tables.establish(1);
  const MicroCredits needed = stakes.at_risk(value, stakes.rates(part_worker(1), terms, part_now));
  const auto reaches = [&](std::uint8_t who, MicroCredits stake) {
    return stakes.reaches(part_worker(who), terms, value, stake, part_now);
  };

  EXPECT_TRUE(reaches(1, needed));
  EXPECT_FALSE(reaches(1, needed - 1));
  EXPECT_FALSE(reaches(2, 1000 * needed)) << "a newcomer";
  ASSERT_TRUE(stakes.lock(part_worker(1), part_task(0), 10, needed));
  EXPECT_FALSE(reaches(1, needed + 9)) << "ten are locked";
}

TEST_F(TaskStakesTest, WithoutARootMoreIsAtRiskSinceAccomplicesSayNothing) {
  const CheckRates rates = stakes.rates(part_worker(1), terms, part_now);
  const MicroCredits alone = stakes.at_risk(value, rates);
  EXPECT_EQ(rates.audit, 1) << "a part of every result";

  tables.standing.set_root_at_hand([] { return true; });

  EXPECT_EQ(stakes.at_risk(value, rates), 3 * value * 32) << "one wrong part of 32";
  EXPECT_GT(alone, stakes.at_risk(value, rates));
}

TEST_F(TaskStakesTest, AMismatchIsLockedBesideItsTaskUntilItIsFreed) {
  const PublicKey worker = part_worker(1);
  ASSERT_TRUE(stakes.lock(worker, part_task(0), 10, 100));
  stakes.lock_mismatch(worker, part_task(0), 500);
  EXPECT_EQ(stakes.locked(worker), 510) << "more than it has";

  EXPECT_EQ(stakes.unlock(worker, part_task(0)), 10);
  EXPECT_EQ(stakes.locked(worker), 500);
  stakes.keep_mismatch(worker, part_task(0));
  EXPECT_TRUE(stakes.keeps_mismatch(worker, part_task(0)));
  stakes.free_mismatches(worker);

  EXPECT_EQ(stakes.locked(worker), 0);
  EXPECT_FALSE(stakes.keeps_mismatch(worker, part_task(0)));
}

TEST_F(TaskStakesTest, AConvictionTakesWhatIsLockedElseWhatWouldHaveBeen) {
  const PublicKey worker = part_worker(1);
  ASSERT_TRUE(stakes.lock(worker, part_task(0), 10, 100));
  EXPECT_EQ(stakes.take_penalty(worker, part_task(0), value, &terms, part_now), 10);
  EXPECT_EQ(stakes.locked(worker), 0);

  const MicroCredits would_be = stake_for(value, stakes.rates(worker, terms, part_now), 0.3);

  EXPECT_EQ(stakes.take_penalty(worker, part_task(0), value, &terms, part_now), would_be);
  EXPECT_GT(stakes.take_penalty(worker, part_task(0), value, nullptr, part_now), 0);
}

}  // namespace
}  // namespace weft::trust
