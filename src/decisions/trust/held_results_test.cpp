// Tests results that are held back: their number, their release, and a conviction of their worker.
#include "decisions/trust/held_results.h"

#include <gtest/gtest.h>

#include <array>

#include "decisions/trust/convictions.h"
#include "decisions/trust/test_parts.h"

namespace weft::trust {
namespace {

class HeldResultsTest : public testing::Test {
 protected:
  static RefereeSettings two_held() {
    RefereeSettings settings;
    settings.hold_max = 2;
    return settings;
  }
  // Holds a result of a worker that ran the task alone and whose stake is locked.
  void hold(std::uint32_t index, std::uint8_t worker) {
    TaskCase& open = tables.cases.case_for(part_task(index), part_worker(worker));
    open.root = part_root(5);
    (void)tables.stakes.lock(part_worker(worker), part_task(index), 10, 1000);
    tables.votes.set_ballot(part_task(index), {.quorum = 1, .lead = 1, .held = true});
    tables.hand_in(index, worker, 5);
    held.hold(part_task(index), pass);
  }
  [[nodiscard]] std::size_t accepted() const {
    std::size_t count = 0;
    for (const Decision& each : pass.todo) count += std::holds_alternative<Accepted>(each) ? 1 : 0;
    return count;
  }

  PartTables tables{two_held()};
  HeldResults held{tables};
  RefereePass pass{.now = part_now};
};

TEST_F(HeldResultsTest, TheOldestOfAWorkerIsReleasedWhenMoreAreHeldThanMayBe) {
  hold(0, 1);
  hold(1, 1);
  EXPECT_EQ(accepted(), 0U);
  EXPECT_EQ(tables.stakes.locked(part_worker(1)), 0) << "nothing more is drawn for it";
  hold(2, 2);
  EXPECT_EQ(accepted(), 0U) << "of another worker";

  hold(3, 1);

  ASSERT_EQ(accepted(), 1U);
  EXPECT_EQ(std::get<Accepted>(pass.todo.front()).task, part_task(0));
}

TEST_F(HeldResultsTest, AJobThatWaitsForNothingElseIsReleased) {
  for (std::uint32_t index = 0; index < 6; ++index) tables.votes.restore_accepted(part_task(index));
  hold(6, 1);
  EXPECT_EQ(accepted(), 0U);

  hold(7, 2);

  EXPECT_EQ(accepted(), 2U);
}

TEST_F(HeldResultsTest, WhatIsHeldOfAConvictedWorkerIsComputedByAnother) {
  hold(0, 1);
  hold(1, 2);
  Convictions convictions{tables, held};

  convictions.convict(part_task(7), part_worker(1), 100, 10, "It was wrong.", pass);

  ASSERT_EQ(only<Convicted>(pass).size(), 1U);
  EXPECT_EQ(only<Convicted>(pass)[0].penalty, 100);
  EXPECT_EQ(tables.cases.case_of(part_task(0))->stage, Stage::replicated);
  EXPECT_EQ(tables.cases.case_of(part_task(1))->stage, Stage::held) << "another worker's";
  EXPECT_TRUE(tables.standing.book().suspended(part_worker(1), part_now));
  EXPECT_EQ(accepted(), 0U);
  EXPECT_TRUE(convictions.pardon(part_worker(1), part_now));
  EXPECT_FALSE(convictions.pardon(part_worker(1), part_now));
}

TEST_F(HeldResultsTest, AMismatchThatWasStoredIsLockedUntilItIsTooOld) {
  Convictions convictions{tables, held};
  convictions.restore_mismatch(
      part_worker(1),
      {.client = part_worker(9), .task = part_task(0), .at = part_now, .penalty = 70});
  EXPECT_EQ(tables.stakes.locked(part_worker(1)), 70);
  convictions.forget_old_mismatches(part_now + Evidence::mismatch_lasts - 1);
  EXPECT_EQ(tables.stakes.locked(part_worker(1)), 70);

  convictions.forget_old_mismatches(part_now + Evidence::mismatch_lasts + 1);

  EXPECT_EQ(tables.stakes.locked(part_worker(1)), 0);
}

}  // namespace
}  // namespace weft::trust
