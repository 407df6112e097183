// Tests the effects of events and the views of the queue: WorkerEvents, JobEvents, TaskEvents,
// CheckReports, SchedulerViews and WaitExplainer. Also tests the parts that decide() uses:
// WorkerChoice, match(), MakingWay and Expiry.
#include <gtest/gtest.h>

#include "decisions/scheduler/matcher.h"
#include "decisions/scheduler/test_parts.h"

namespace weft::scheduler {
namespace {

using enum ErrorCode;

TEST(WorkerEvents, AWorkerIsTakenOnceAndWithABoundOfSlots) {
  TestParts test;
  Worker greedy = native_worker(1);
  greedy.slots = 1'000'000;
  WorkerState& worker = test.add(greedy);
  EXPECT_EQ(worker.info.slots, 1024U);
  const auto twice = test.parts.worker_events.add(greedy, at(1));
  ASSERT_FALSE(twice.has_value());
  EXPECT_EQ(twice.error().code, already_exists);
  EXPECT_EQ(test.tables.workers.size(), 1U);
}

TEST(WorkerEvents, WhatAStrangerSaysOfItsSpeedCountsForNothing) {
  TestParts test;
  Worker boaster = established(1);
  boaster.capabilities.f32_gflop_per_s = 1e6;
  EXPECT_DOUBLE_EQ(test.add(boaster).rate, 0.1);
  Worker silent = native_worker(2);
  silent.capabilities.f32_gflop_per_s = 0;
  silent.capabilities.device = protocol::DeviceKind::cpu;
  EXPECT_DOUBLE_EQ(test.add(silent).rate, 0.02);
}

TEST(WorkerEvents, ABoundOfLeasesFreesAWorkerOnceItIsRaised) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  test.parts.worker_events.set_leases_max(key_of(1), 0, 0.5);
  EXPECT_FALSE(worker.free_key.has_value());
  EXPECT_EQ(worker.sample_share, 0.5);
  test.clear_agenda();
  test.parts.worker_events.set_leases_max(key_of(1), 2, 7);
  EXPECT_TRUE(worker.free_key.has_value());
  EXPECT_EQ(worker.sample_share, 1);
  EXPECT_TRUE(test.tables.agenda.has_workers());
  test.parts.worker_events.set_leases_max(key_of(9), 2, 1);  // The worker is not connected.
}

TEST(WorkerEvents, AReturningWorkerHasWhatIsWantedAndDropsTheRest) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& job = test.add(known_job(1));
  job.settled[1] = true;
  const std::vector<protocol::HeldTask> held{{.task = {job_id_of(1), 0}, .attempt = 3},
                                             {.task = {job_id_of(1), 1}, .attempt = 1},
                                             {.task = {job_id_of(8), 0}, .attempt = 1}};

  const auto taken = test.parts.worker_events.resume(key_of(1), held, at(0));

  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].attempt, 3U);
  EXPECT_EQ(worker.running.size(), 1U);
  const auto cancels = all<Cancel>(test.decided());
  ASSERT_EQ(cancels.size(), 1U);
  EXPECT_EQ(cancels[0].tasks.size(), 2U);
}

TEST(JobEvents, AJobNeedsATaskAReplicaAndAWorkgroupForEachTask) {
  TestParts test;
  Job without_tasks = small_job(1);
  without_tasks.tasks = 0;
  Job without_replicas = small_job(1);
  without_replicas.replicas = 0;
  Job without_workgroups = small_job(1);
  without_workgroups.workgroups = 3;
  for (const Job& job : {without_tasks, without_replicas, without_workgroups}) {
    const auto added = test.parts.job_events.add(job, at(0), {});
    ASSERT_FALSE(added.has_value());
    EXPECT_EQ(added.error().code, invalid_argument);
  }
  const std::vector<TaskProgress> beyond{{.index = 4, .delivered = {}}};
  EXPECT_EQ(test.parts.job_events.add(small_job(1), at(0), beyond).error().code, invalid_argument);
  EXPECT_EQ(test.tables.jobs.size(), 0U);
  test.add(small_job(1));
  EXPECT_EQ(test.parts.job_events.add(small_job(1), at(0), {}).error().code, already_exists);
}

TEST(JobEvents, AJobFromBeforeARestartGoesOnWhereItWas) {
  TestParts test;
  const std::vector<TaskProgress> progress{{.index = 0, .settled = true, .delivered = {}},
                                           {.index = 2, .delivered = {key_of(7)}}};
  ASSERT_TRUE(test.parts.job_events.add(known_job(1, 4, 2), at(0), progress).has_value());
  const JobState& job = test.tables.jobs.at(job_id_of(1));
  EXPECT_EQ(job.settled_count, 1U);
  EXPECT_EQ(job.next_fresh(), 1U);
  EXPECT_EQ(job.tasks.at(2).replicas.size(), 1U);
  EXPECT_TRUE(job.tasks.at(2).missing());
  EXPECT_EQ(job.canary, CanaryState::passed);

  test.parts.job_events.remove(job_id_of(1), "It is over.");
  test.parts.job_events.remove(job_id_of(1), "It is over.");
  EXPECT_EQ(test.tables.jobs.size(), 0U);
}

TEST(TaskEvents, AResultOfAnotherAttemptIsRefused) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& job = test.add(known_job(1));
  test.lease(worker, job, 0);
  const TaskId task{job_id_of(1), 0};

  const auto other =
      test.parts.task_events.result({.task = task, .worker = key_of(1), .attempt = 2}, at(1));
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, not_found);
  const TaskResult right{.task = task, .worker = key_of(1), .attempt = 1, .gpu_seconds = 1};
  EXPECT_TRUE(test.parts.task_events.result(right, at(1)).has_value());
  EXPECT_EQ(worker.reported.size(), 1U);
  EXPECT_EQ(test.parts.task_events.result(right, at(2)).error().code, not_found) << "reported";
}

TEST(TaskEvents, ACountedReplicaFreesItsWorkerAndASettledTaskCancelsTheOthers) {
  TestParts test;
  WorkerState& right = test.add(native_worker(1));
  WorkerState& late = test.add(native_worker(2));
  JobState& job = test.add(known_job(1, 4, 2));
  const TaskId task{job_id_of(1), 0};
  test.lease(right, job, 0);
  test.lease(late, job, 0);
  ASSERT_TRUE(
      test.parts.task_events
          .result({.task = task, .worker = key_of(1), .attempt = 1, .gpu_seconds = 1}, at(1))
          .has_value());

  test.parts.task_events.counted(task, key_of(1));
  EXPECT_TRUE(right.reported.empty());
  test.parts.task_events.settled(task, std::vector{key_of(1)});

  EXPECT_TRUE(late.running.empty());
  const auto cancels = all<Cancel>(test.decided());
  ASSERT_EQ(cancels.size(), 1U);
  EXPECT_EQ(cancels[0].worker, key_of(2));
  EXPECT_EQ(job.settled_count, 1U);
  EXPECT_EQ(job.leases, 0U);
  test.parts.task_events.settled(task, {});
  EXPECT_EQ(job.settled_count, 1U) << "once";
}

TEST(TaskEvents, TheTimeForAReceiptBeginsWhenTheResultIsLookedAt) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& job = test.add(known_job(1));
  test.lease(worker, job, 0);
  ASSERT_TRUE(test.parts.task_events
                  .result({.task = {job_id_of(1), 0}, .worker = key_of(1), .attempt = 1}, at(1))
                  .has_value());
  test.parts.task_events.awaits_receipt_from({job_id_of(1), 0}, key_of(1), at(50));
  EXPECT_EQ(worker.reported.at(0).since, at(50));
  test.parts.task_events.awaits_receipt_from({job_id_of(1), 3}, key_of(1), at(60));
  EXPECT_EQ(worker.reported.at(0).since, at(50));
}

TEST(TaskEvents, AFurtherReplicaOpensTheTaskAndAWrongResultBarsItsWorker) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& job = test.add(known_job(1));
  test.lease(worker, job, 0);
  EXPECT_FALSE(job.tasks.at(0).missing());

  test.parts.task_events.want_replicas({job_id_of(1), 0}, 3);
  EXPECT_TRUE(job.tasks.at(0).missing());
  EXPECT_TRUE(test.tables.deadlines.starving.next().has_value());
  test.parts.task_events.bar({job_id_of(1), 0}, key_of(1), Barred::job);
  test.parts.task_events.bar({job_id_of(1), 0}, key_of(1), Barred::job);
  EXPECT_EQ(job.barred, std::vector{key_of(1)});
}

TEST(CheckReports, TheOperatorsDevicePricesAWaitingJobOnce) {
  TestParts test;
  test.add(newcomer(1));
  JobState& job = test.add(small_job(1));
  const Measurement measured{.workgroups = 10, .gpu_seconds = 1, .elapsed_seconds = 1, .rate = 1};
  test.parts.checks.canary_measured(job_id_of(1), measured, at(1));
  EXPECT_EQ(job.canary, CanaryState::passed);
  (void)test.decided();
  test.parts.checks.canary_measured(job_id_of(1), measured, at(2));
  test.parts.checks.canary_measured(job_id_of(9), measured, at(2));
  EXPECT_TRUE(test.decided().empty());
}

TEST(CheckReports, AResultWaitsFromItsBeginningUntilItIsDecided) {
  TestParts test;
  Job checked = known_job(1, 100);
  checked.sample_parts = 32;
  test.add(checked);
  const TaskId task{job_id_of(1), 0};
  test.parts.checks.begins(task, key_of(1), 0.5, at(0));
  EXPECT_EQ(test.tables.samples.size(), 1U) << "also one that was leased before a restart";
  test.parts.checks.stalls(task, key_of(1));
  test.parts.checks.decided(task, key_of(1));
  EXPECT_EQ(test.tables.samples.size(), 0U);
  test.parts.checks.ends(task, key_of(1), SampleQueue::Outcome::checked, at(1));
}

TEST(SchedulerViews, SayWhatTheTablesHold) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  Worker costly = native_worker(2);
  costly.price_min = 1'000'000'000;
  test.add(costly);
  Job spec = known_job(1);
  spec.client = key_of(100);
  JobState& job = test.add(spec);
  EXPECT_EQ(test.parts.views.busy(), 0);
  test.lease(worker, job, 0);

  EXPECT_EQ(test.parts.views.workers(), 2U);
  EXPECT_EQ(test.parts.views.jobs(), 1U);
  EXPECT_EQ(test.parts.views.able(job_id_of(1)), std::vector{key_of(1)});
  EXPECT_EQ(test.parts.views.able_count(job_id_of(1)), 1U);
  EXPECT_EQ(test.parts.views.able_count(job_id_of(9)), 0U);
  EXPECT_EQ(test.parts.views.busy(), 0.5);
  EXPECT_EQ(test.parts.views.progress(job_id_of(1))->leased, 1U);
  EXPECT_FALSE(test.parts.views.progress(job_id_of(9)).has_value());
  EXPECT_EQ(test.parts.views.load(key_of(1))->held, 1U);
  EXPECT_EQ(test.parts.views.clients(), std::vector{key_of(100)});
  EXPECT_EQ(test.parts.views.share(key_of(100), at(0)).used_seconds, 1);
  EXPECT_EQ(test.parts.views.terms(job_id_of(1), key_of(1)).piece_workgroups_max, 1U);
  EXPECT_EQ(test.parts.views.terms(job_id_of(9), key_of(1)).piece_workgroups_max, 0U);
  EXPECT_NE(test.parts.views.presence(key_of(1)), nullptr);
  EXPECT_FALSE(test.parts.views.stays(key_of(9), 1, at(0)).has_value());
  EXPECT_TRUE(test.parts.views.reservations().empty());
  EXPECT_FALSE(test.parts.views.samples_are_late(at(0)));
}

TEST(WaitExplainer, NamesTheReasonThatIsNearestToRunning) {
  TestParts test;
  JobState& job = test.add(known_job(1));
  EXPECT_EQ(test.parts.explainer.explain(job, at(0))->reason, WaitReason::no_workers);
  WorkerState& worker = test.add(native_worker(1));
  EXPECT_FALSE(test.parts.explainer.explain(job, at(0)).has_value()) << "it is about to run";
  test.lease(worker, job, 0);
  EXPECT_EQ(test.parts.explainer.explain(job, at(0))->reason, WaitReason::busy)
      << "a second is longer than a worker is filled for";
}

TEST(WorkerChoice, TheBestFreeWorkerGetsTheTask) {
  TestParts test;
  test.add(native_worker(1));
  WorkerState& fast = test.add(native_worker(2, 10));
  JobState& job = test.add(known_job(1, 1));

  EXPECT_TRUE(test.parts.worker_choice.takes(fast, job, at(0)));
  EXPECT_TRUE(test.parts.worker_choice.give(job, at(0)));
  EXPECT_FALSE(test.parts.worker_choice.give(job, at(0))) << "all of it is leased";

  ASSERT_EQ(fast.running.size(), 1U);
  const auto leases = all<Lease>(test.decided());
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].worker, key_of(2));
  EXPECT_FALSE(leases[0].canary);
  EXPECT_EQ(leases[0].piece_workgroups_max, 0U) << "ten workgroups fit into one dispatch";
}

TEST(WorkerChoice, ATaskWaitsForABetterWorkerThatMayGetFree) {
  TestParts test;
  WorkerState& slow = test.add(native_worker(1));
  WorkerState& busy = test.add(native_worker(2, 10));
  test.lease(busy, test.add(known_job(9, 1, 1, 10)), 0);  // The task takes ten seconds.
  JobState& job = test.add(known_job(1, 1, 1, 4));        // The task takes 40 s on the slow worker.

  EXPECT_FALSE(test.parts.worker_choice.give(job, at(0)));

  EXPECT_TRUE(slow.running.empty());
  EXPECT_EQ(test.tables.deadlines.patience.next(), at(30)) << "no longer than a task may take";
  EXPECT_FALSE(test.parts.worker_choice.takes(slow, job, at(1)));
  EXPECT_TRUE(test.parts.worker_choice.give(job, at(31))) << "its patience is over";
  EXPECT_EQ(slow.running.size(), 1U);
}

TEST(Match, FillsWorkersInTheOrderOfRankAndLeavesNothingMarked) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& common = test.add(known_job(1, 1));
  Job urgent = known_job(2, 1);
  urgent.priority = 90;
  JobState& first = test.add(urgent);

  match(test.tables, test.parts.worker_choice, at(0));

  ASSERT_EQ(worker.running.size(), 1U) << "a second is enough for one worker";
  EXPECT_EQ(worker.running[0].job, &first);
  EXPECT_TRUE(test.tables.agenda.empty());
  EXPECT_EQ(common.leases, 0U);
}

TEST(MakingWay, ACheckpointOfATaskThatIsNotHeldIsRefused) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& job = test.add(small_job(1));
  const TaskCheckpoint half{
      .task = {job_id_of(1), 0}, .worker = key_of(1), .attempt = 1, .done = 0.5};
  EXPECT_EQ(test.parts.making_way.checkpointed(half, at(1)).error().code, not_found);

  test.lease(worker, job, 0);
  EXPECT_TRUE(test.parts.making_way.checkpointed(half, at(20)).has_value());
  EXPECT_DOUBLE_EQ(worker.running[0].seconds, 40) << "a canary's length is known with it";
  EXPECT_FALSE(test.tables.preemption.empty());
  EXPECT_EQ(test.parts.making_way.made(), 0U);
}

TEST(MakingWay, NothingIsLookedAtWhileNoRunCouldMakeWay) {
  TestParts test;
  test.add(known_job(1));
  test.parts.making_way.look(at(0));
  EXPECT_EQ(test.parts.making_way.next_look(), std::nullopt);
}

TEST(Expiry, AJobEndsAtItsDeadlineAndASilentWorkerIsLost) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  Job timed = known_job(1);
  timed.deadline = at(2);
  test.add(timed);
  JobState& other = test.add(known_job(2));
  test.lease(worker, other, 0);

  test.parts.expiry.expire(at(1.9));
  EXPECT_TRUE(test.decided().empty());
  test.parts.expiry.expire(at(3));

  const auto decisions = test.decided();
  ASSERT_EQ(all<JobFailed>(decisions).size(), 1U);
  EXPECT_EQ(all<JobFailed>(decisions)[0].reason.code, deadline_exceeded);
  ASSERT_EQ(all<WorkerLost>(decisions).size(), 1U);
  EXPECT_EQ(all<WorkerLost>(decisions)[0].reason, "The worker has said nothing for 3000 ms.");
  EXPECT_EQ(test.tables.workers.size(), 0U);
}

}  // namespace
}  // namespace weft::scheduler
