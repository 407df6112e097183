// Tests that workers lose their tasks if they vanish, are silent or do not finish (expiry.h,
// worker_removal.h).
#include <gtest/gtest.h>

#include "decisions/scheduler/test_rig.h"

namespace weft::scheduler {
namespace {

TEST(Loss, GivesTheTasksOfALostWorkerToOthersAtOnce) {
  Rig rig;
  rig.add(native_worker(1, 50));
  rig.add(known_job(1, 1));
  rig.decide(0);
  rig.add(native_worker(2));
  ASSERT_TRUE(rig.decide(0).empty());

  rig.scheduler.remove_worker(key_of(1), Departure::lost, at(1));
  const auto leases = rig.decide(1);

  ASSERT_EQ(all<LeaseLost>(rig.last).size(), 1U);
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].worker, key_of(2));
  EXPECT_EQ(leases[0].tasks[0].attempt, 2U);
}

TEST(Loss, TakesASilentWorkerOutAfterThreeBeats) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1, 1, 1, 10));
  rig.decide(0);
  rig.scheduler.heard(key_of(1), at(2));
  rig.decide(3.5);
  EXPECT_TRUE(all<WorkerLost>(rig.last).empty());

  rig.decide(5);

  ASSERT_EQ(all<WorkerLost>(rig.last).size(), 1U);
  EXPECT_EQ(rig.scheduler.views().workers(), 0U);
}

TEST(Loss, LeavesAnIdleWorkerInPeace) {
  Rig rig;
  rig.add(native_worker(1));
  rig.decide(1'000'000);
  EXPECT_EQ(rig.scheduler.views().workers(), 1U);
}

TEST(Loss, ExpiresALeaseWhoseWorkerBeatsButDoesNotFinish) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1, 1));
  rig.decide(0);
  for (int second = 1; second < 35; ++second) {
    rig.scheduler.heard(key_of(1), at(second));
    ASSERT_TRUE(rig.decide(second).empty());
    ASSERT_TRUE(all<Cancel>(rig.last).empty()) << second;
  }
  rig.scheduler.heard(key_of(1), at(35));
  rig.decide(35);

  EXPECT_EQ(all<Cancel>(rig.last).size(), 1U);
  EXPECT_EQ(all<LeaseLost>(rig.last).size(), 1U);
}

TEST(Loss, TakesAResultBackWhoseReceiptNeverComes) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(native_worker(2));
  rig.add(known_job(1, 1));
  const auto first = rig.decide(0);
  ASSERT_TRUE(rig.report(1, 0, 1, 1).has_value());
  for (int second = 1; second <= 6; ++second) rig.scheduler.heard(key_of(1), at(second));

  const auto again = rig.decide(6);

  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].worker, key_of(2));
}

TEST(Loss, NamesItsNextDeadline) {
  Rig rig;
  EXPECT_FALSE(rig.scheduler.next_deadline().has_value());
  rig.add(native_worker(1));
  rig.add(known_job(1, 1));
  rig.decide(0);
  EXPECT_EQ(rig.scheduler.next_deadline(), at(3));
}

}  // namespace
}  // namespace weft::scheduler
