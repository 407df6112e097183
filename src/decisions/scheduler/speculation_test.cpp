// Tests that late tasks get a copy, that the first result settles them and no worker is blamed, and
// that small tasks are leased in batches.
#include "decisions/scheduler/speculation.h"

#include <gtest/gtest.h>

#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

TEST(Late, IsAMultipleOfWhatWasPredictedAndNotBeforeItsLeast) {
  const Speculation rule;
  EXPECT_EQ(late_at(rule, at(1), 10), at(31));
  EXPECT_EQ(late_at(rule, at(1), 0.001), at(3));
}

TEST(MayCopy, KeepsCopiesToAShareOfAllWorkers) {
  const Speculation rule;
  EXPECT_TRUE(may_copy(rule, 0, 1));
  EXPECT_FALSE(may_copy(rule, 1, 19));
  EXPECT_TRUE(may_copy(rule, 1, 20));
  EXPECT_FALSE(may_copy({.enabled = false}, 0, 100));
}

// Two workers with a task of one second each. The first task is done in time, the second is late.
struct Tail {
  Scheduler scheduler;
  std::vector<Decision> last;

  explicit Tail(std::uint32_t tasks = 2) {
    for (std::uint64_t number : {1, 2}) {
      Worker worker = native_worker(number);
      worker.slots = 1;
      EXPECT_TRUE(scheduler.add_worker(worker, at(0)).has_value());
    }
    EXPECT_TRUE(scheduler.add_job(known_job(1, tasks, 1, 0.1), at(0)).has_value());
    EXPECT_EQ(decide(0).size(), 2U);
    finish(0, 1, 1, 1);
  }
  std::vector<Lease> decide(double time) {
    for (std::uint64_t number : {1, 2}) scheduler.heard(key_of(number), at(time));
    last = scheduler.decide(at(time));
    return all<Lease>(last);
  }
  void finish(std::uint32_t index, std::uint64_t worker, std::uint32_t attempt, double time) {
    const TaskId task{job_id_of(1), index};
    ASSERT_TRUE(
        scheduler
            .result({.task = task, .worker = key_of(worker), .attempt = attempt, .gpu_seconds = 1},
                    at(time))
            .has_value());
    scheduler.counted(task, key_of(worker));
    scheduler.settled(task);
  }
};

TEST(Copies, RunALateTaskElsewhereAndCancelTheSecondRun) {
  Tail tail;
  EXPECT_TRUE(tail.decide(2.9).empty());
  const auto leases = tail.decide(3);
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].worker, key_of(1));
  EXPECT_EQ(leases[0].tasks[0].index, 1U);
  EXPECT_EQ(leases[0].tasks[0].attempt, 2U);
  EXPECT_EQ(tail.scheduler.views().copies(), 1U);

  tail.finish(1, 1, 2, 4);
  tail.decide(4);

  const auto cancels = all<Cancel>(tail.last);
  ASSERT_EQ(cancels.size(), 1U);
  EXPECT_EQ(cancels[0].worker, key_of(2));
  EXPECT_TRUE(all<LeaseLost>(tail.last).empty()) << "no worker is blamed";
  EXPECT_EQ(tail.scheduler.views().copies(), 0U);
  EXPECT_EQ(tail.scheduler.views().load(key_of(2))->held, 0U);
}

TEST(Copies, AreCancelledWhereTheFirstWorkerIsStillFirst) {
  Tail tail;
  ASSERT_EQ(tail.decide(3).size(), 1U);

  tail.finish(1, 2, 1, 3.5);
  tail.decide(3.5);

  ASSERT_EQ(all<Cancel>(tail.last).size(), 1U);
  EXPECT_EQ(all<Cancel>(tail.last)[0].worker, key_of(1));
  EXPECT_EQ(tail.scheduler.views().copies(), 0U);
}

TEST(Copies, TakeThePlaceOfALeaseThatIsLost) {
  Tail tail;
  ASSERT_EQ(tail.decide(3).size(), 1U);
  tail.scheduler.remove_worker(key_of(2), Departure::lost, at(3.5));
  ASSERT_TRUE(tail.scheduler.add_worker(native_worker(3), at(3.5)).has_value());

  EXPECT_TRUE(tail.decide(3.5).empty()) << "one replica is wanted, and one is under way";
  EXPECT_EQ(tail.scheduler.views().copies(), 0U);
  tail.finish(1, 1, 2, 4);
}

TEST(Copies, AreNotMadeWhileTheJobHasTasksThatDoNotRun) {
  Tail tail(4);
  const auto leases = tail.decide(1);
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].tasks[0].index, 2U);
  tail.decide(3.1);
  EXPECT_EQ(tail.scheduler.views().copies(), 0U) << "task 3 waits";
}

TEST(Copies, GoWithTheirJob) {
  Tail tail;
  ASSERT_EQ(tail.decide(3).size(), 1U);
  tail.scheduler.remove_job(job_id_of(1), "The client cancelled the job.");
  tail.decide(3);
  EXPECT_EQ(all<Cancel>(tail.last).size(), 2U);
  EXPECT_EQ(tail.scheduler.views().copies(), 0U);
}

// --- Batches

TEST(Batches, FillAWorkerAgainWhenHalfIsDoneAndInOneLease) {
  Scheduler scheduler;
  Worker worker = native_worker(1);
  worker.slots = 16;
  ASSERT_TRUE(scheduler.add_worker(worker, at(0)).has_value());
  ASSERT_TRUE(scheduler.add_job(known_job(1, 100, 1, 1e-6), at(0)).has_value());
  const auto first = all<Lease>(scheduler.decide(at(0)));
  ASSERT_EQ(first.size(), 1U);
  ASSERT_EQ(first[0].tasks.size(), 16U);

  for (std::uint32_t index = 0; index < 8; ++index) {
    EXPECT_TRUE(all<Lease>(scheduler.decide(at(0.01))).empty()) << index;
    ASSERT_TRUE(scheduler
                    .result({.task = {job_id_of(1), index},
                             .worker = key_of(1),
                             .attempt = 1,
                             .gpu_seconds = 1e-5},
                            at(0.01))
                    .has_value());
  }
  const auto next = all<Lease>(scheduler.decide(at(0.01)));

  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0].tasks.size(), 8U);
}

TEST(Batches, DoNotHoldBackTheNextOfTwoTasks) {
  Scheduler scheduler;
  Worker worker = native_worker(1);
  worker.slots = 16;
  ASSERT_TRUE(scheduler.add_worker(worker, at(0)).has_value());
  ASSERT_TRUE(scheduler.add_job(known_job(1, 100, 1, 0.03), at(0))
                  .has_value());  // 0.3 s a task: two tasks fill half a second.
  ASSERT_EQ(all<Lease>(scheduler.decide(at(0)))[0].tasks.size(), 2U);

  ASSERT_TRUE(
      scheduler
          .result(
              {.task = {job_id_of(1), 0}, .worker = key_of(1), .attempt = 1, .gpu_seconds = 0.3},
              at(0.3))
          .has_value());

  EXPECT_EQ(all<Lease>(scheduler.decide(at(0.3))).size(), 1U)
      << "it has work while the next one is on its way";
}

}  // namespace
}  // namespace weft::scheduler
