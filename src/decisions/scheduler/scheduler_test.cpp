// The scheduler as a whole: replicas, workers that come back, jobs from before a restart, and
// events that it refuses. Times are numbers of seconds.
#include <gtest/gtest.h>

#include <set>

#include "decisions/scheduler/test_rig.h"

namespace weft::scheduler {
namespace {

using enum ErrorCode;

TEST(Replicas, CancelsWhatIsLeftOfASettledTask) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(native_worker(2));
  rig.add(known_job(1, 1, 2));
  rig.decide(0);

  rig.finish(1, 0, 1, 1);
  rig.decide(1);

  const auto cancels = all<Cancel>(rig.last);
  ASSERT_EQ(cancels.size(), 1U);
  EXPECT_EQ(cancels[0].worker, key_of(2));
}

TEST(Replicas, FindsAnotherWorkerForAFurtherReplicaAndSaysWhenThereIsNone) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(native_worker(2));
  rig.add(known_job(1, 1, 2));
  rig.decide(0);
  const TaskId task{job_id_of(1), 0};
  for (std::uint64_t worker : {1, 2}) {
    ASSERT_TRUE(rig.report(1, 0, worker, 1).has_value());
    rig.scheduler.counted(task, key_of(worker));
  }

  rig.scheduler.want_replicas(task, 3);
  EXPECT_TRUE(rig.decide(1).empty());
  EXPECT_TRUE(all<NoWorkerLeft>(rig.last).empty());
  rig.decide(12);
  EXPECT_EQ(all<NoWorkerLeft>(rig.last).size(), 1U);
  rig.add(native_worker(3), 13);

  ASSERT_EQ(rig.decide(13).size(), 1U);
}

TEST(Resume, GivesAReturningWorkerItsTasksBackWhereTheyAreStillWanted) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1, 2, 1, 1.0));
  rig.decide(0);
  rig.scheduler.remove_worker(key_of(1), Departure::lost, at(1));
  rig.add(native_worker(1), 2);

  rig.scheduler.resume(
      key_of(1), std::vector<protocol::HeldTask>{{{job_id_of(1), 0}, 1}, {{job_id_of(7), 0}, 1}},
      at(2));
  const auto leases = rig.decide(2);

  EXPECT_EQ(leases.size(), 0U) << "it is busy with the task that it holds";
  const auto cancels = all<Cancel>(rig.last);
  ASSERT_EQ(cancels.size(), 1U);
  EXPECT_EQ(cancels[0].tasks.at(0).task.job, job_id_of(7));
  EXPECT_TRUE(rig.report(1, 0, 1, 3).has_value());
}

TEST(Resume, CancelsATaskThatRunsElsewhereByNow) {
  Rig rig;
  rig.add(native_worker(1, 50));
  rig.add(known_job(1, 1));
  rig.decide(0);
  rig.add(native_worker(2));
  rig.scheduler.remove_worker(key_of(1), Departure::lost, at(1));
  ASSERT_EQ(rig.decide(1).size(), 1U);
  rig.add(native_worker(1), 2);

  rig.scheduler.resume(key_of(1), std::vector<protocol::HeldTask>{{{job_id_of(1), 0}, 1}}, at(2));
  rig.decide(2);

  EXPECT_EQ(all<Cancel>(rig.last).size(), 1U);
}

TEST(Resume, DoesNotLetAWorkerHoardTasksThatItClaimsToHold) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1, 100));
  std::vector<protocol::HeldTask> held;
  for (std::uint32_t i = 0; i < 100; ++i) held.push_back({{job_id_of(1), i}, 1});

  rig.scheduler.resume(key_of(1), held, at(0));

  EXPECT_EQ(rig.scheduler.views().load(key_of(1))->held, 4U);
}

TEST(Restart, GoesOnWithWhatWasStored) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(native_worker(2));
  const std::vector<TaskProgress> progress = {
      {.index = 0, .settled = true, .delivered = {}},
      {.index = 2, .settled = false, .delivered = {key_of(1)}}};
  rig.add(known_job(1, 3, 2, 1e-6), 0, progress);

  rig.decide(0);

  std::set<std::pair<std::uint32_t, PublicKey>> leased;
  for (const auto& [key, attempt] : rig.attempts) leased.insert({key.first.index, key.second});
  EXPECT_EQ(leased, (std::set<std::pair<std::uint32_t, PublicKey>>{
                        {1, key_of(1)}, {1, key_of(2)}, {2, key_of(2)}}));
}

TEST(Scheduler, RefusesTheSameJobOrWorkerTwice) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1));
  EXPECT_EQ(rig.scheduler.add_worker(native_worker(1), at(0)).error().code, already_exists);
  EXPECT_EQ(rig.scheduler.add_job(known_job(1), at(0)).error().code, already_exists);
  EXPECT_EQ(rig.scheduler.add_job(small_job(2, 0), at(0)).error().code, invalid_argument);
}

}  // namespace
}  // namespace weft::scheduler
