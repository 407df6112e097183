// Tests the parts that decide which task a worker may have: LongRuns, SampleChecks, TaskCopies,
// CanaryPrices, TaskChoice and RoomPromises.
#include <gtest/gtest.h>

#include "decisions/scheduler/canary_rules.h"
#include "decisions/scheduler/test_parts.h"

namespace weft::scheduler {
namespace {

constexpr std::uint64_t device_memory = std::uint64_t{1} << 30;

TEST(LongRuns, OnlyARunThatIsLongEnoughIsWatchedUntilItEnds) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& job = test.add(known_job(1));
  test.parts.long_runs.watch(worker, job, 0, 4, at(0));
  EXPECT_TRUE(test.tables.preemption.empty());

  test.parts.long_runs.watch(worker, job, 0, 6, at(0));
  EXPECT_FALSE(test.tables.preemption.empty());
  test.tables.preemption_requests.add({job_id_of(1), 0}, key_of(1), job_id_of(2));
  test.parts.long_runs.done(job, 0, key_of(1));
  EXPECT_TRUE(test.tables.preemption.empty());
  EXPECT_EQ(test.tables.preemption_requests.count_for(job_id_of(2)), 0U);
}

TEST(LongRuns, ATaskIsKeptForTheOnlyWorkerThatCanContinueIt) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  Job own_states = known_job(1);
  own_states.states_shared = false;
  JobState& job = test.add(own_states);
  const TaskId id{job_id_of(1), 0};
  TaskState& task = job.touch(0);

  test.parts.long_runs.reserve(worker, job, 0, 60, at(0));

  EXPECT_TRUE(test.parts.long_runs.is_reserved_for_other(id, task, key_of(2)));
  EXPECT_FALSE(test.parts.long_runs.is_reserved_for_other(id, task, key_of(1)));
  EXPECT_EQ(test.tables.resume_reservations.ends(id), at(60)) << "as long as it had run";
  task.wanted = 2;
  EXPECT_FALSE(test.parts.long_runs.is_reserved_for_other(id, task, key_of(2)))
      << "a further replica is for any worker";

  test.clear_agenda();
  test.parts.long_runs.release_reservations(worker);
  EXPECT_TRUE(test.tables.resume_reservations.empty());
  EXPECT_TRUE(test.is_marked(job));
}

TEST(LongRuns, ATaskThatAnyWorkerCanContinueIsKeptForNone) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& job = test.add(known_job(1));  // A job whose states are shared.
  job.touch(0);
  test.parts.long_runs.reserve(worker, job, 0, 60, at(0));
  EXPECT_TRUE(test.tables.resume_reservations.empty());
}

TEST(SampleChecks, NewcomersWaitWhereTheirResultsCouldNotBeCheckedInTime) {
  TestParts test;
  WorkerState& stranger = test.add(newcomer(1, "10.0"));
  WorkerState& trusted = test.add(native_worker(2));
  Job checked = known_job(1, 100);
  checked.sample_parts = 32;
  JobState& job = test.add(checked);
  EXPECT_FALSE(test.parts.samples.is_late(stranger, job, at(0)));

  for (std::uint32_t index = 0; index < SampleQueue::unmeasured_max; ++index)
    test.parts.samples.leased(stranger, job, index);

  EXPECT_TRUE(test.parts.samples.is_late(stranger, job, at(0))) << "no check has been measured";
  EXPECT_FALSE(test.parts.samples.is_late(trusted, job, at(0))) << "its results wait for no check";
}

TEST(SampleChecks, AJobThatNewcomersWereKeptFromIsLookedAtOnceTheyMayHaveIt) {
  TestParts test;
  WorkerState& stranger = test.add(newcomer(1, "10.0"));
  Job checked = known_job(1, 100);
  checked.sample_parts = 32;
  JobState& job = test.add(checked);
  test.parts.samples.leased(stranger, job, 0);
  test.parts.samples.keep(job);
  test.clear_agenda();
  EXPECT_EQ(test.parts.samples.next_look(), std::nullopt) << "nothing has changed";

  test.tables.samples.decide({job_id_of(1), 0}, key_of(1));
  ASSERT_TRUE(test.parts.samples.next_look().has_value());
  test.parts.samples.look_again(at(0));

  EXPECT_TRUE(test.is_marked(job));
  EXPECT_EQ(test.parts.samples.next_look(), std::nullopt);
  test.parts.samples.keep(job);
  test.parts.samples.forget(job);
  EXPECT_EQ(test.parts.samples.next_look(), std::nullopt);
}

TEST(SampleChecks, AResultOfAJobWithoutChecksIsNotCounted) {
  TestParts test;
  WorkerState& stranger = test.add(newcomer(1));
  test.parts.samples.leased(stranger, test.add(known_job(1)), 0);
  test.parts.samples.begin({job_id_of(1), 0}, key_of(1), 1, at(0));
  test.parts.samples.begin({job_id_of(9), 0}, key_of(1), 1, at(0));
  EXPECT_EQ(test.tables.samples.size(), 0U);
}

TEST(TaskCopies, ATaskThatIsLateInTheTailOfItsJobGetsOneCopy) {
  TestParts test;
  WorkerState& slow = test.add(native_worker(1));
  test.add(native_worker(2));
  JobState& job = test.add(known_job(1, 1));  // A task is expected to take a second.
  test.lease(slow, job, 0);

  test.parts.copies.look_for_late(slow, at(2.9));
  EXPECT_EQ(test.parts.copies.made(), 0U);
  test.parts.copies.look_for_late(slow, at(3.1));
  EXPECT_EQ(test.parts.copies.under_way(), 1U);
  EXPECT_TRUE(job.tasks.at(0).missing());
  test.parts.copies.look_for_late(slow, at(9));
  EXPECT_EQ(test.parts.copies.made(), 1U);

  test.parts.copies.drop(job, job.tasks.at(0), 1);
  EXPECT_EQ(test.parts.copies.under_way(), 0U);
  EXPECT_EQ(job.copies, 0U);
  EXPECT_EQ(test.parts.copies.made(), 1U);
}

TEST(TaskCopies, ATaskThatNoOtherWorkerCanRunGetsNone) {
  TestParts test;
  WorkerState& only = test.add(native_worker(1));
  JobState& job = test.add(known_job(1, 1));
  test.lease(only, job, 0);
  test.parts.copies.look_for_late(only, at(9));
  EXPECT_EQ(test.parts.copies.made(), 0U);
}

TEST(CanaryPrices, AnEstablishedWorkerCountsOnceAndLeavesTheCanaryToOthers) {
  TestParts test;
  WorkerState& one = test.add(established(1));
  WorkerState& two = test.add(established(2));
  JobState& job = test.add(small_job(1));
  const Measurement measured{
      .workgroups = 10, .gpu_seconds = 1, .elapsed_seconds = 1, .rate = one.rate_said};
  EXPECT_TRUE(test.parts.prices.another_measures(job));
  EXPECT_FALSE(test.parts.prices.leaves_canary(one, job));

  test.parts.prices.note(job, measured, one);
  test.parts.prices.note(job, measured, one);

  EXPECT_EQ(job.paces.size(), 1U);
  EXPECT_EQ(all<Measured>(test.decided()).size(), 1U);
  EXPECT_TRUE(test.parts.prices.leaves_canary(one, job));
  EXPECT_FALSE(test.parts.prices.leaves_canary(two, job));
  test.parts.prices.note(job, measured, two);
  EXPECT_FALSE(test.parts.prices.another_measures(job)) << "all have";
  EXPECT_FALSE(test.parts.prices.leaves_canary(one, job));
}

TEST(CanaryPrices, TheMedianPricesTheJobWithWhatWasKnownBefore) {
  TestParts test;
  Job job = small_job(1);
  job.paces_known = {1, 1};
  const Estimate made = test.parts.prices.priced(test.add(job), std::array{9.0});
  EXPECT_DOUBLE_EQ(made.reference_seconds_per_workgroup, 1);
}

TEST(CanaryPrices, TheThirdMeasurementCorrectsAPriceThatOneWorkerMade) {
  TestParts test;
  WorkerState& liar = test.add(established(1));
  WorkerState& second = test.add(established(2));
  WorkerState& third = test.add(established(3));
  JobState& job = test.add(small_job(1));
  const auto takes = [](const WorkerState& worker, double seconds) {
    return Measurement{.workgroups = 10,
                       .gpu_seconds = seconds,
                       .elapsed_seconds = seconds,
                       .rate = worker.rate_said};
  };
  ASSERT_TRUE(test.parts.canaries.pass(job, takes(liar, 100), &liar, at(0)));
  const MicroCredits before = job.spec.estimate->price;

  test.parts.prices.reprice(job, takes(second, 10), second);
  EXPECT_EQ(job.spec.estimate->price, before) << "two do not decide";
  test.parts.prices.reprice(job, takes(third, 10), third);

  EXPECT_LT(job.spec.estimate->price, before);
  EXPECT_EQ(all<Estimated>(test.decided()).size(), 2U);
}

TEST(TaskChoice, TheCanaryGoesAloneAndStaysTheCanary) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  WorkerState& other = test.add(native_worker(2));
  JobState& job = test.add(small_job(1));
  EXPECT_EQ(test.parts.choice.task_for(worker, job, at(0)), 0U);
  test.lease(worker, job, 0);
  EXPECT_EQ(test.parts.choice.task_for(other, job, at(0)), std::nullopt);

  test.parts.leases.lose(worker, job, 0, Blame::failure, {ErrorCode::internal, "It failed."},
                         at(1));
  EXPECT_EQ(test.parts.choice.task_for(other, job, at(1)), 0U);
  EXPECT_EQ(test.parts.choice.task_for(worker, job, at(1)), std::nullopt)
      << "it has just failed it";
  EXPECT_EQ(test.parts.choice.task_for(worker, job, at(1.5)), 0U);
}

TEST(TaskChoice, AWorkerGetsNothingThatItDoesNotWantOrMayNotHave) {
  TestParts test;
  Worker costly = native_worker(1);
  costly.price_min = 1'000'000'000;
  WorkerState& too_costly = test.add(costly);
  WorkerState& wrong = test.add(native_worker(2));
  JobState& job = test.add(known_job(1));
  EXPECT_EQ(test.parts.choice.task_for(too_costly, job, at(0)), std::nullopt);
  EXPECT_EQ(test.parts.choice.task_for(wrong, job, at(0)), 0U);
  job.barred.push_back(key_of(2));
  EXPECT_EQ(test.parts.choice.task_for(wrong, job, at(0)), std::nullopt);
}

TEST(TaskChoice, NewcomersRunNoCanaryAndHaveAShareOfAJob) {
  TestParts test;
  WorkerState& stranger = test.add(newcomer(1));
  test.add(native_worker(2));
  JobState& unknown = test.add(small_job(1));
  EXPECT_TRUE(test.parts.choice.keeps_from(stranger, unknown, at(0)));

  JobState& known = test.add(known_job(2, 20));
  EXPECT_FALSE(test.parts.choice.keeps_from(stranger, known, at(0)));
  // Newcomers may have a tenth of the job's 20 tasks, which is two.
  known.newcomer_tries = 2;
  EXPECT_TRUE(test.parts.choice.keeps_from(stranger, known, at(0)));
  EXPECT_FALSE(test.parts.choice.keeps_from(test.tables.workers.at(key_of(2)), known, at(0)));
}

TEST(TaskChoice, ATaskThatTheWorkerHasAStateOfComesFirst) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  Job own_states = known_job(1);
  own_states.states_shared = false;
  JobState& job = test.add(own_states);
  job.reopen(2, job.touch(2));
  test.parts.long_runs.reserve(worker, job, 2, 60, at(0));

  EXPECT_EQ(test.parts.choice.task_for(worker, job, at(0)), 2U);
  EXPECT_EQ(test.parts.choice.task_for(test.add(native_worker(2)), job, at(0)), 0U);
}

TEST(CanaryRules, UrgentJobsSendAFewScoutsToIdleWorkers) {
  TestParts test;
  WorkerState& idle = test.add(native_worker(1));
  WorkerState& browser = test.add(browser_worker(2));
  Job urgent = small_job(1, 20);
  urgent.priority = 100;
  JobState& job = test.add(urgent);
  const Settings& settings = test.tables.settings;
  EXPECT_TRUE(waits_for_native(job));
  EXPECT_FALSE(sends_scouts(settings, job)) << "the canary has not begun";

  job.canary = CanaryState::leased;
  job.leases = 1;
  EXPECT_TRUE(may_scout(settings, idle, job));
  EXPECT_FALSE(may_scout(settings, browser, job)) << "a shader that has run nowhere";
  job.leases = settings.scouts_max + 1;
  EXPECT_FALSE(may_scout(settings, idle, job));
  job.urgent = false;
  job.leases = 1;
  EXPECT_FALSE(may_scout(settings, idle, job));
}

TEST(RoomPromises, TasksOfASharedWorkerHaveRoomBesideEachOther) {
  TestParts test;
  WorkerState& worker = test.add(sliced_worker(1));  // The worker has 1 GiB.
  Job half = known_job(1);
  half.requirements.memory_bytes = device_memory / 2;
  Job whole = known_job(2);
  whole.requirements.memory_bytes = device_memory;
  JobState& small = test.add(half);
  JobState& large = test.add(whole);
  EXPECT_TRUE(test.parts.promises.has_memory(worker, large));

  test.lease(worker, small, 0);

  EXPECT_TRUE(test.parts.promises.has_memory(worker, small));
  EXPECT_FALSE(test.parts.promises.has_memory(worker, large));
  EXPECT_FALSE(test.parts.promises.admits(worker, large, 0, at(0)));
}

TEST(RoomPromises, AJobThatLacksRoomIsPromisedItAndOthersMayNotDelayThat) {
  TestParts test;
  WorkerState& worker = test.add(sliced_worker(1));
  Job half = known_job(1, 8);
  half.requirements.memory_bytes = device_memory / 2;
  Job whole = known_job(2);
  whole.requirements.memory_bytes = device_memory;
  whole.priority = 90;
  JobState& small = test.add(half);
  JobState& large = test.add(whole);
  test.lease(worker, small, 0);
  ASSERT_TRUE(test.parts.promises.admits(worker, small, 1, at(1)));

  test.parts.promises.promise(large, at(1));

  EXPECT_EQ(large.promised, &worker);
  EXPECT_EQ(worker.promised, &large);
  EXPECT_EQ(large.requirements->promised, &large);
  EXPECT_FALSE(test.parts.promises.admits(worker, small, 1, at(1))) << "it would end later";

  test.parts.promises.withdraw(large);
  EXPECT_EQ(large.promised, nullptr);
  EXPECT_EQ(worker.promised, nullptr);
  EXPECT_EQ(large.requirements->promised, nullptr);
  EXPECT_TRUE(test.parts.promises.admits(worker, small, 1, at(1)));
}

}  // namespace
}  // namespace weft::scheduler
