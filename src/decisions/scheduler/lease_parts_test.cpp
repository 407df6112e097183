// Tests the leases of workers and the ways in which they end: Leases, BlameRules, JobRemoval,
// WorkerRemoval and Canaries.
#include <gtest/gtest.h>

#include "decisions/scheduler/test_parts.h"

namespace weft::scheduler {
namespace {

const Error failed_so{ErrorCode::internal, "It failed."};

TEST(Leases, ALeaseIsHeldByItsWorkerAndCountedInItsJob) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& job = test.add(known_job(1));

  test.lease(worker, job, 2, 5);

  ASSERT_EQ(worker.running.size(), 1U);
  EXPECT_EQ(worker.running[0].index, 2U);
  EXPECT_EQ(worker.head_since, at(5));
  EXPECT_DOUBLE_EQ(worker.load_seconds, 1);
  EXPECT_EQ(job.leases, 1U);
  EXPECT_EQ(job.tasks.at(2).replica_of(key_of(1))->state, ReplicaState::leased);
  EXPECT_EQ(job.tasks.at(2).next_attempt, 2U);

  test.parts.leases.release(worker, job, 2, at(6));
  EXPECT_TRUE(worker.running.empty());
  EXPECT_EQ(worker.load_seconds, 0);
  EXPECT_EQ(job.leases, 0U);
}

TEST(Leases, ATaskWhoseResultHasComeWaitsForItsReceiptInTheOrderOfTime) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& job = test.add(known_job(1));
  for (std::uint32_t index = 0; index < 2; ++index) test.lease(worker, job, index);

  test.parts.leases.report(worker, worker.running.begin() + 1, 1, at(3));
  test.parts.leases.report(worker, worker.running.begin(), 1, at(2));

  EXPECT_TRUE(worker.running.empty());
  ASSERT_EQ(worker.reported.size(), 2U);
  EXPECT_EQ(worker.reported[0].index, 0U);
  EXPECT_EQ(worker.reported[1].index, 1U);
  EXPECT_EQ(job.leases, 2U);
}

TEST(Leases, ALostReplicaIsMissingAgainAndItsWorkerWaits) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  test.add(native_worker(2));
  JobState& job = test.add(known_job(1));
  test.lease(worker, job, 0);
  test.clear_agenda();

  EXPECT_TRUE(test.parts.leases.lose(worker, job, 0, Blame::failure, failed_so, at(1)));

  const TaskState& task = job.tasks.at(0);
  EXPECT_TRUE(task.replicas.empty());
  EXPECT_NE(task.open_sequence, 0U);
  ASSERT_EQ(task.failures.size(), 1U);
  EXPECT_EQ(task.failures[0].retry_at, at(1.5));
  EXPECT_EQ(test.tables.deadlines.retries.next(), at(1.5));
  EXPECT_EQ(all<LeaseLost>(test.decided()).size(), 1U);
  EXPECT_TRUE(test.is_marked(job));
}

TEST(Leases, ATaskThatMadeWayMayGoToTheSameWorkerAtOnce) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& job = test.add(known_job(1));
  test.lease(worker, job, 0);
  EXPECT_TRUE(test.parts.leases.lose(worker, job, 0, Blame::ours, failed_so, at(1)));
  EXPECT_TRUE(job.tasks.at(0).failures.empty());
  EXPECT_EQ(test.tables.deadlines.retries.next(), std::nullopt);
}

TEST(Leases, ANewcomersTryIsSpentWithItsLossAndATrustedWorkerIsNext) {
  TestParts test;
  WorkerState& stranger = test.add(newcomer(1, "10.0"));
  test.add(native_worker(2));
  JobState& job = test.add(known_job(1, 20));
  test.lease(stranger, job, 0);
  EXPECT_EQ(job.newcomer_tries, 1U);
  EXPECT_EQ(job.prefix_leases.of("10.0"), 1);

  test.parts.leases.lose(stranger, job, 0, Blame::failure, failed_so, at(1));

  EXPECT_EQ(job.newcomer_tries, 1U);
  EXPECT_EQ(job.prefix_leases.of("10.0"), 0);
  EXPECT_TRUE(job.tasks.at(0).for_trusted);
  test.parts.leases.give_try_back(job);
  EXPECT_EQ(job.newcomer_tries, 0U);
}

TEST(Leases, AJobThatEndsCancelsOnceAtEachWorkerInTheOrderOfTheirArrival) {
  TestParts test;
  WorkerState& first = test.add(native_worker(9));
  WorkerState& second = test.add(native_worker(2));
  JobState& job = test.add(known_job(1, 3));
  test.lease(second, job, 0);
  test.lease(first, job, 1);
  test.lease(second, job, 2);
  (void)test.decided();

  test.parts.leases.end_job(job, {ErrorCode::cancelled, "Enough."}, at(1));

  const auto decisions = test.decided();
  const auto cancels = all<Cancel>(decisions);
  ASSERT_EQ(cancels.size(), 2U);
  EXPECT_EQ(cancels[0].worker, key_of(9));
  EXPECT_EQ(cancels[1].tasks.size(), 2U);
  EXPECT_EQ(cancels[1].reason, "Enough.");
  EXPECT_EQ(all<JobFailed>(decisions).size(), 1U);
  EXPECT_FALSE(test.tables.jobs.contains(job_id_of(1)));
  EXPECT_TRUE(first.running.empty() && second.running.empty());
}

TEST(BlameRules, AnErrorSaysWhoseFaultALossIs) {
  EXPECT_EQ(blame_for(ErrorCode::invalid_argument), Blame::refusal);
  EXPECT_EQ(blame_for(ErrorCode::resource_exhausted), Blame::unable);
  EXPECT_EQ(blame_for(ErrorCode::deadline_exceeded), Blame::timeout);
  EXPECT_EQ(blame_for(ErrorCode::cancelled), Blame::busy);
  EXPECT_EQ(blame_for(ErrorCode::already_exists), Blame::signed_before);
  EXPECT_EQ(blame_for(ErrorCode::data_loss), Blame::forgery);
  EXPECT_EQ(blame_for(ErrorCode::internal), Blame::failure);
}

TEST(BlameRules, OneWorkerIsEnoughInACanaryAndTwoAfterIt) {
  TestParts test;
  WorkerState& one = test.add(native_worker(1));
  WorkerState& two = test.add(native_worker(2));
  test.add(native_worker(3));
  const auto loss = [](bool canary) {
    return BlameRules::Loss{.index = 0, .kind = Blame::refusal, .canary = canary};
  };
  JobState& untried = test.add(small_job(1));
  EXPECT_TRUE(test.parts.blame.note(untried, untried.touch(0), one, loss(true), failed_so));

  JobState& known = test.add(known_job(2));
  EXPECT_FALSE(test.parts.blame.note(known, known.touch(0), one, loss(false), failed_so));
  EXPECT_TRUE(test.parts.blame.note(known, known.touch(0), two, loss(false), failed_so));
}

TEST(BlameRules, NewcomersAloneEndNoJobThatOthersCouldRun) {
  TestParts test;
  JobState& job = test.add(known_job(1));
  WorkerState& trusted = test.add(native_worker(99));
  for (std::uint64_t number = 1; number <= 5; ++number) {
    WorkerState& stranger = test.add(newcomer(number));
    EXPECT_FALSE(test.parts.blame.note(job, job.touch(0), stranger,
                                       {.index = 0, .kind = Blame::failure}, failed_so));
  }
  EXPECT_FALSE(test.parts.blame.no_other_worker(job, {key_of(1), key_of(2)}));
  test.parts.members.set_slots(trusted, 0);
  EXPECT_TRUE(test.parts.blame.no_other_worker(
      job, {key_of(1), key_of(2), key_of(3), key_of(4), key_of(5)}));
}

TEST(JobRemoval, NothingStandsForAJobThatIsGone) {
  TestParts test;
  test.add(native_worker(1));
  Job timed = known_job(1);
  timed.deadline = at(100);
  timed.client = key_of(50);
  JobState& job = test.add(timed);
  RequirementClass& of = *job.requirements;
  ASSERT_EQ(of.jobs, 1U);
  ASSERT_EQ(test.tables.deadlines.next(), at(100));

  test.parts.job_removal.erase(job);

  EXPECT_EQ(of.jobs, 0U);
  EXPECT_TRUE(of.needing[RequirementClass::open].empty());
  EXPECT_EQ(test.tables.deadlines.next(), std::nullopt);
  EXPECT_TRUE(test.tables.clients.keys().empty());
  EXPECT_EQ(test.tables.jobs.size(), 0U);
  (void)test.tables.agenda.take_workers();
  EXPECT_TRUE(test.tables.agenda.empty());
}

TEST(WorkerRemoval, AWorkerThatLeavesGivesBackWhatItHeld) {
  TestParts test;
  WorkerState& worker = test.add(sliced_worker(1));
  JobState& job = test.add(known_job(1));
  RequirementClass& of = *job.requirements;
  test.lease(worker, job, 0);

  test.parts.worker_removal.disconnect(worker, Blame::gone, {ErrorCode::unavailable, "It is gone."},
                                       at(1));

  EXPECT_EQ(test.tables.workers.size(), 0U);
  EXPECT_TRUE(job.tasks.at(0).replicas.empty());
  EXPECT_FALSE(of.has_members());
  EXPECT_TRUE(of.sliced.empty());
  EXPECT_TRUE(of.free[0].empty() && of.free[1].empty());
  EXPECT_EQ(test.tables.deadlines.workers.next(), std::nullopt);
  EXPECT_EQ(test.tables.histories.take_moved(), std::vector{key_of(1)});
}

TEST(Canaries, AFirstResultPricesTheJobAndOpensIt) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& job = test.add(small_job(1));
  test.lease(worker, job, 0);

  EXPECT_TRUE(test.parts.canaries.pass(
      job, {.workgroups = 10, .gpu_seconds = 1, .elapsed_seconds = 2, .rate = 1}, &worker, at(2)));

  EXPECT_EQ(job.canary, CanaryState::passed);
  EXPECT_DOUBLE_EQ(job.pace, 0.1);
  EXPECT_EQ(job.listed_phase, RequirementClass::open);
  const auto estimated = all<Estimated>(test.decided());
  ASSERT_EQ(estimated.size(), 1U);
  EXPECT_EQ(estimated[0].estimate, *job.spec.estimate);
}

TEST(Canaries, AJobAboveItsBudgetEnds) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  Job poor = small_job(1);
  poor.budget = 1;
  JobState& job = test.add(poor);
  test.lease(worker, job, 0);
  EXPECT_FALSE(test.parts.canaries.pass(
      job, {.workgroups = 10, .gpu_seconds = 1, .elapsed_seconds = 2, .rate = 1}, &worker, at(2)));
  EXPECT_FALSE(test.tables.jobs.contains(job_id_of(1)));
  EXPECT_EQ(all<JobFailed>(test.decided())[0].reason.code, ErrorCode::insufficient_funds);
}

TEST(Canaries, TheOperatorsDeviceIsAskedForOnceWhereOnlyNewcomersAreConnected) {
  TestParts test;
  test.add(newcomer(1));
  JobState& job = test.add(small_job(1));
  test.parts.canaries.want_device(job);
  test.parts.canaries.want_device(job);
  EXPECT_EQ(all<CanaryWanted>(test.decided()).size(), 1U);

  test.add(native_worker(2));
  JobState& other = test.add(small_job(2));
  test.parts.canaries.want_device(other);
  EXPECT_TRUE(test.decided().empty()) << "a trusted worker runs it";
}

TEST(Canaries, WhatWaitsBehindATaskOfUnknownLengthGoesBackIntoTheQueue) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& unknown = test.add(small_job(1));
  JobState& known = test.add(known_job(2));
  test.lease(worker, unknown, 0);
  test.lease(worker, known, 0);
  test.tables.reach(at(0.4));
  test.parts.canaries.take_back(worker, at(0.4));
  EXPECT_EQ(worker.running.size(), 2U);

  test.tables.reach(at(0.6));
  test.parts.canaries.take_back(worker, at(0.6));

  ASSERT_EQ(worker.running.size(), 1U);
  EXPECT_EQ(worker.running[0].job, &unknown);
  EXPECT_TRUE(known.tasks.at(0).missing());
  EXPECT_TRUE(known.tasks.at(0).failed.empty()) << "the worker did nothing wrong";
}

}  // namespace
}  // namespace weft::scheduler
