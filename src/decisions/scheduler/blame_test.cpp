// Tests in which cases failed tasks end their job, and in which they say nothing about the job
// (blame.h, task_events.h).
#include <gtest/gtest.h>

#include <set>

#include "decisions/scheduler/test_rig.h"

namespace weft::scheduler {
namespace {

using enum ErrorCode;

TEST(Failure, EndsAJobWhoseTaskFailsOnThreeWorkers) {
  Rig rig;
  for (std::uint64_t i = 1; i <= 5; ++i) rig.add(native_worker(i));
  rig.add(known_job(1, 1));
  std::set<PublicKey> workers;
  for (int round = 0; round < 3; ++round) {
    const auto leases = rig.decide(round);
    ASSERT_EQ(leases.size(), 1U);
    EXPECT_TRUE(workers.insert(leases[0].worker).second) << "each time another worker";
    ASSERT_TRUE(rig.scheduler
                    .failed({leases[0].job, 0}, leases[0].worker, leases[0].tasks[0].attempt,
                            {device_lost, "The device is lost."}, at(round))
                    .has_value());
  }
  rig.decide(3);

  const auto failed = all<JobFailed>(rig.last);
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].reason,
            (Error{device_lost,
                   "Task 0 failed on 3 different workers; the last one: The device is lost."}));
}

TEST(Failure, RetriesOnTheOnlyWorkerAndEndsInTheEnd) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1, 1));
  int leases = 0;
  for (int second = 0; second < 20 && rig.scheduler.views().jobs() > 0; ++second) {
    if (rig.decide(second).empty()) continue;
    ++leases;
    ASSERT_TRUE(rig.fail_task(1, 0, 1, second, internal).has_value());
  }
  EXPECT_EQ(leases, 6);
  EXPECT_EQ(rig.scheduler.views().jobs(), 0U);
}

TEST(Failure, NeedsTwoWorkersToCallAShaderWrongAfterItsCanary) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(native_worker(2));
  rig.add(known_job(1, 1));
  rig.decide(0);
  ASSERT_TRUE(rig.fail_task(1, 0, 1, 1, invalid_argument).has_value());
  ASSERT_EQ(rig.decide(1).size(), 1U);
  EXPECT_TRUE(all<JobFailed>(rig.last).empty());

  ASSERT_TRUE(rig.fail_task(1, 0, 2, 2, invalid_argument).has_value());
  rig.decide(2);

  EXPECT_EQ(all<JobFailed>(rig.last).size(), 1U);
}

TEST(Failure, DoesNotCountATaskThatAWorkerGivesBack) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1, 1));
  for (int second = 0; second < 20; ++second) {
    if (rig.decide(second).empty()) continue;
    ASSERT_TRUE(rig.fail_task(1, 0, 1, second, cancelled).has_value());
  }
  EXPECT_EQ(rig.scheduler.views().jobs(), 1U);
}

TEST(Failure, GivesATaskThatWorkersMayHaveSignedToOthersAndBlamesNothing) {
  Rig rig;
  for (std::uint64_t i = 1; i <= 10; ++i) rig.add(native_worker(i));
  rig.add(known_job(1, 1));
  std::set<PublicKey> workers;
  for (int round = 0; round < 10; ++round) {
    const auto leases = rig.decide(round);
    ASSERT_EQ(leases.size(), 1U);
    EXPECT_TRUE(workers.insert(leases[0].worker).second) << "not the same one again";
    ASSERT_TRUE(rig.scheduler
                    .failed({leases[0].job, 0}, leases[0].worker, leases[0].tasks[0].attempt,
                            {already_exists, "It may have signed it."}, at(round))
                    .has_value());
  }
  EXPECT_TRUE(rig.decide(120).empty()) << "nor in a loop while there is no other one";
  rig.add(native_worker(11), 120);

  const auto leases = rig.decide(120);

  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].worker, key_of(11));
  EXPECT_EQ(rig.scheduler.views().jobs(), 1U);
}

TEST(Failure, DoesNotLetForgersEndAJob) {
  Rig rig;
  for (std::uint64_t i = 1; i <= 10; ++i) rig.add(native_worker(i));
  rig.add(known_job(1, 1));
  std::set<PublicKey> workers;
  for (int round = 0; round < 10; ++round) {
    const auto leases = rig.decide(round);
    ASSERT_EQ(leases.size(), 1U);
    EXPECT_TRUE(workers.insert(leases[0].worker).second) << "not the same one again";
    ASSERT_TRUE(rig.scheduler
                    .failed({leases[0].job, 0}, leases[0].worker, leases[0].tasks[0].attempt,
                            {data_loss, "Another root."}, at(round))
                    .has_value());
  }
  rig.add(native_worker(11), 10);

  const auto leases = rig.decide(10);

  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].worker, key_of(11));
}

TEST(Failure, RefusesAnswersForTasksThatAreNotHeld) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(native_worker(2));
  rig.add(known_job(1, 1));
  const auto leases = rig.decide(0);
  const TaskId task{job_id_of(1), 0};

  EXPECT_EQ(
      rig.scheduler.result({.task = task, .worker = key_of(2), .attempt = 1}, at(1)).error().code,
      not_found);
  EXPECT_EQ(
      rig.scheduler.result({.task = task, .worker = key_of(1), .attempt = 2}, at(1)).error().code,
      not_found);
  EXPECT_EQ(
      rig.scheduler.result({.task = {job_id_of(2), 0}, .worker = key_of(1), .attempt = 1}, at(1))
          .error()
          .code,
      not_found);
  EXPECT_EQ(
      rig.scheduler.result({.task = {job_id_of(1), 7}, .worker = key_of(1), .attempt = 1}, at(1))
          .error()
          .code,
      not_found);
  EXPECT_TRUE(rig.report(1, 0, 1, 1).has_value());
  EXPECT_EQ(rig.report(1, 0, 1, 1).error().code, not_found) << "the same result twice";
}

TEST(Failure, EndsAJobAtItsDeadline) {
  Rig rig;
  rig.add(native_worker(1));
  Job job = known_job(1, 3);
  job.deadline = at(2);
  rig.add(job);
  rig.decide(0);

  rig.decide(2);

  ASSERT_EQ(all<JobFailed>(rig.last).size(), 1U);
  EXPECT_EQ(all<JobFailed>(rig.last)[0].reason,
            (Error{deadline_exceeded, "The job's deadline passed with 0 of 3 tasks accepted."}));
  EXPECT_EQ(all<Cancel>(rig.last).size(), 1U);
}

}  // namespace
}  // namespace weft::scheduler
