// Tests the predictions for tasks and the indexes of jobs and workers: Prospects, Listings,
// ClientCharges, ClassMembers and LearnedRates.
#include <gtest/gtest.h>

#include <limits>

#include "decisions/scheduler/test_parts.h"

namespace weft::scheduler {
namespace {

constexpr auto native_side = static_cast<std::size_t>(protocol::WorkerKind::native);

TEST(Prospects, ATaskTakesItsWorkOverTheRateAndAllSlotsOfASlicedWorker) {
  TestParts test;
  WorkerState& in_turn = test.add(native_worker(1, 2));
  WorkerState& sliced = test.add(sliced_worker(2));
  JobState& job = test.add(known_job(1, 4));  // Each task takes one reference second.

  EXPECT_DOUBLE_EQ(test.parts.prospects.predicted_seconds(in_turn, job, 0), 0.5);
  EXPECT_DOUBLE_EQ(test.parts.prospects.predicted_seconds(sliced, job, 0), 4);
  EXPECT_EQ(test.parts.prospects.wall_bound(in_turn), std::chrono::seconds(30));
  EXPECT_EQ(test.parts.prospects.wall_bound(sliced), std::chrono::seconds(120));
}

TEST(Prospects, AWorkerThatIsTooSlowForTheBoundHasNoChance) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& brief = test.add(known_job(1, 4, 1, 0.01));
  JobState& endless = test.add(known_job(2, 4, 1, 4));  // Each task takes 40 s.

  EXPECT_EQ(test.parts.prospects.chance(worker, brief, 0, at(0)), 1);
  EXPECT_TRUE(test.parts.prospects.suits(worker, brief, 0, at(0)));
  EXPECT_EQ(test.parts.prospects.chance(worker, endless, 0, at(0)), 0);
  EXPECT_FALSE(test.parts.prospects.suits(worker, endless, 0, at(0)));
}

TEST(Prospects, DispatchesAreCutToWhatTheSettingAllows) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  EXPECT_EQ(test.parts.prospects.piece_workgroups_max(worker, test.add(known_job(1, 4, 1, 0.02))),
            5U);
  EXPECT_EQ(test.parts.prospects.piece_workgroups_max(worker, test.add(known_job(2, 4, 1, 5))), 1U);
  EXPECT_EQ(test.parts.prospects.piece_workgroups_max(worker, test.add(known_job(3, 4, 1, 0.001))),
            0U)
      << "the whole task fits";
}

TEST(Prospects, OnlyLongTasksAreWorthCheckpoints) {
  Settings settings;
  settings.checkpoint_min = std::chrono::seconds(1);
  EXPECT_TRUE(TestParts(settings).parts.prospects.is_long(20));
  EXPECT_FALSE(TestParts(settings).parts.prospects.is_long(19));
  settings.checkpoint_min = {};
  EXPECT_FALSE(TestParts(settings).parts.prospects.is_long(1e6));
}

TEST(Prospects, AWorkerIsStuckOnceATaskOfUnknownLengthHasRunForLong) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& job = test.add(small_job(1));
  EXPECT_FALSE(test.parts.prospects.is_stuck(worker));
  test.lease(worker, job, 0);

  test.tables.reach(at(0.4));
  EXPECT_FALSE(test.parts.prospects.is_stuck(worker));
  test.tables.reach(at(0.5));
  EXPECT_TRUE(test.parts.prospects.is_stuck(worker));
}

TEST(Prospects, TheFirstWorkerThatGetsFreeIsExpectedThen) {
  TestParts test;
  JobState& job = test.add(known_job(1, 4));
  EXPECT_EQ(test.parts.prospects.starts_in(job, at(0)), Duration::max()) << "no worker";
  WorkerState& fast = test.add(native_worker(1, 2));
  WorkerState& slow = test.add(native_worker(2));
  test.lease(slow, job, 0);
  test.lease(fast, job, 1);

  EXPECT_NEAR(seconds(test.parts.prospects.starts_in(job, at(0.2))), 0.3, 1e-6);
  EXPECT_EQ(test.parts.prospects.starts_in(job, at(9)), Duration{}) << "it is late";
}

TEST(Listings, AJobStandsWhereItsCanaryHasCome) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& job = test.add(small_job(1));
  RequirementClass& of = *job.requirements;
  EXPECT_TRUE(of.needing[RequirementClass::canary].contains(job.rank));

  test.lease(worker, job, 0);
  EXPECT_EQ(job.listed_phase, RequirementClass::phases) << "the canary runs alone";
  EXPECT_TRUE(of.needing[RequirementClass::canary].empty());

  job.canary = CanaryState::passed;
  test.parts.listings.list(job);
  EXPECT_TRUE(of.needing[RequirementClass::open].contains(job.rank));
  Listings::unlist(job);
  EXPECT_TRUE(of.needing[RequirementClass::open].empty());
}

TEST(Listings, AJobKeepsItsPlaceUnderItsNewRank) {
  TestParts test;
  JobState& job = test.add(known_job(1));
  const Rank before = job.rank;
  Rank next = before;
  next.place += 5;

  test.parts.listings.move(job, next);

  EXPECT_EQ(job.rank.place, before.place + 5);
  const auto& queue = job.requirements->needing[RequirementClass::open];
  EXPECT_FALSE(queue.contains(before));
  EXPECT_TRUE(queue.contains(next));
}

TEST(Listings, AWorkerIsFreeUntilItIsFullAndAgainWhenHalfOfThatIsDone) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));  // The worker has four slots.
  JobState& job = test.add(known_job(1, 8, 1, 0.001));
  EXPECT_TRUE(worker.free_key.has_value());
  EXPECT_TRUE(job.requirements->free[native_side].contains(*worker.free_key));
  for (std::uint32_t index = 0; index < 4; ++index) test.lease(worker, job, index);
  EXPECT_FALSE(worker.free_key.has_value());
  EXPECT_TRUE(job.requirements->free[native_side].empty());

  test.parts.leases.release(worker, job, 0, at(1));
  EXPECT_FALSE(worker.free_key.has_value()) << "tasks come in batches";
  test.parts.leases.release(worker, job, 1, at(1));
  EXPECT_TRUE(worker.free_key.has_value());
}

TEST(Listings, AWorkerIsLookedAtWhileItHoldsSomething) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  EXPECT_EQ(worker.deadline, std::nullopt);
  test.lease(worker, test.add(known_job(1)), 0, 2);
  EXPECT_EQ(worker.deadline, at(5)) << "three beats after the lease";
  EXPECT_EQ(test.tables.deadlines.workers.next(), at(5));

  worker.gone = true;
  test.parts.listings.list(worker);
  EXPECT_EQ(test.tables.deadlines.workers.next(), std::nullopt);
}

TEST(ClientCharges, WhatAClientHadMovesItsJobsBack) {
  TestParts test;
  test.add(native_worker(1));
  Job of_first = known_job(1);
  of_first.client = key_of(100);
  Job of_second = known_job(2);
  of_second.client = key_of(200);
  JobState& first = test.add(of_first);
  JobState& second = test.add(of_second);
  ASSERT_LT(first.rank, second.rank);
  test.parts.charges.refresh(at(0));

  test.parts.charges.charge(first, 3600, at(0));

  EXPECT_LT(second.rank, first.rank);
  EXPECT_TRUE(first.requirements->needing[RequirementClass::open].contains(first.rank));
  test.parts.charges.charge(first, -3600, at(0));
  EXPECT_LT(second.rank, first.rank) << "within a pass jobs only move back";
  test.parts.charges.refresh(at(10));
  EXPECT_LT(first.rank, second.rank);
}

TEST(ClassMembers, APausedWorkerCountsInNoClass) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  WorkerState& stranger = test.add(newcomer(2, "10.0"));
  JobState& job = test.add(known_job(1));
  const RequirementClass& of = *job.requirements;
  EXPECT_EQ(of.members[native_side], 2U);
  EXPECT_EQ(of.trusted[native_side], 1U);
  EXPECT_DOUBLE_EQ(of.trusted_rates, 1);
  EXPECT_EQ(test.tables.workers.newcomer_prefixes(), 1U);

  test.parts.members.set_slots(worker, 0);
  test.parts.members.set_slots(stranger, 0);

  EXPECT_FALSE(of.has_members());
  EXPECT_EQ(of.trusted_rates, 0);
  EXPECT_EQ(test.tables.workers.newcomer_prefixes(), 0U);
  EXPECT_FALSE(worker.free_key.has_value());
}

TEST(ClassMembers, TrustMovesAWorkerAmongThoseThatCount) {
  TestParts test;
  WorkerState& worker = test.add(newcomer(1));
  JobState& job = test.add(known_job(1));
  EXPECT_FALSE(job.has_trusted());
  EXPECT_TRUE(worker.ranks_last);

  test.parts.members.set_standing(worker, Standing::established);
  EXPECT_TRUE(job.has_trusted());
  EXPECT_FALSE(worker.ranks_last);
  test.parts.members.set_rate(worker, 3);
  EXPECT_DOUBLE_EQ(job.requirements->trusted_rates, 3);

  job.passed[key_of(1)] = 5;
  test.clear_agenda();
  test.parts.members.set_standing(worker, Standing::newcomer);
  EXPECT_TRUE(job.passed.empty()) << "the last trusted one has gone: others look again";
  EXPECT_TRUE(test.is_marked(job));
}

TEST(ClassMembers, AWorkerThatHasShownNothingIsTakenForAModestOne) {
  TestParts test;
  EXPECT_DOUBLE_EQ(test.parts.members.assumed_rate(), 0.1);
  for (std::uint64_t number = 1; number <= 8; ++number)
    test.add(native_worker(number, static_cast<double>(number)));
  EXPECT_DOUBLE_EQ(test.parts.members.assumed_rate(), 3) << "the lower quartile";
  EXPECT_TRUE(test.parts.members.says(Standing::invited));
  EXPECT_FALSE(test.parts.members.says(Standing::established));
}

TEST(LearnedRates, AResultMovesTheWorkersRateAndTheJobsPace) {
  TestParts test;
  WorkerState& worker = test.add(native_worker(1));
  JobState& job = test.add(known_job(1));
  const Measurement twice_as_fast{
      .workgroups = 10, .gpu_seconds = 0.5, .elapsed_seconds = 1, .rate = 1};

  for (int i = 0; i < 5; ++i) test.parts.rates.learn(worker, job, twice_as_fast);

  EXPECT_NEAR(worker.rate, 1.41, 0.02) << "halfway in five results";
  EXPECT_DOUBLE_EQ(job.pace, 0.1) << "the slowest so far";
  EXPECT_LT(job.pace_usual, 0.1);
}

TEST(LearnedRates, WhatDelaysANewcomersResultDelaysNoOther) {
  TestParts test;
  WorkerState& stranger = test.add(newcomer(1));
  JobState& job = test.add(known_job(1));
  test.parts.rates.learn(stranger, job,
                         {.workgroups = 10, .gpu_seconds = 90, .elapsed_seconds = 90, .rate = 1});
  EXPECT_DOUBLE_EQ(job.pace, 0.1);
  EXPECT_LT(stranger.rate, stranger.rate_said);
}

}  // namespace
}  // namespace weft::scheduler
