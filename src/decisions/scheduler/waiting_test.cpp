// Tests that a client that asks why nothing happens gets the true reason, and that asking changes
// nothing.
#include "decisions/scheduler/waiting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/scheduler/requirement_class.h"
#include "decisions/scheduler/scheduler.h"
#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

class WaitingTest : public testing::Test {
 protected:
  void add(const Worker& worker, double time = 0) {
    ASSERT_TRUE(scheduler.add_worker(worker, at(time)).has_value());
  }
  void add(const Job& job, double time = 0) {
    ASSERT_TRUE(scheduler.add_job(job, at(time)).has_value());
  }
  std::vector<Lease> decide(double time = 0) { return all<Lease>(scheduler.decide(at(time))); }
  std::optional<WaitReason> why(std::uint64_t job, double time = 0) {
    waiting = scheduler.views().waiting(job_id_of(job), at(time));
    return waiting ? std::optional(waiting->reason) : std::nullopt;
  }

  static Settings patient() {
    Settings settings;
    settings.beat = std::chrono::hours(1);
    settings.speculation.enabled = false;
    return settings;
  }
  static Worker one_at_a_time(std::uint64_t number, double tflops = 1) {
    Worker worker = native_worker(number, tflops);
    worker.slots = 1;
    return worker;
  }

  Scheduler scheduler{patient()};
  std::optional<Waiting> waiting;
};

TEST_F(WaitingTest, NoWorkersAndOnlyPausedOnesAreToldApart) {
  add(known_job(1, 1));
  decide();
  EXPECT_EQ(why(1), WaitReason::no_workers);
  EXPECT_EQ(sentence(*waiting), "No worker is connected.");

  add(native_worker(1));
  scheduler.set_slots(key_of(1), 0);
  decide();
  EXPECT_EQ(why(1), WaitReason::no_workers);
  EXPECT_EQ(sentence(*waiting), "1 worker is connected, and none takes tasks now.");

  scheduler.set_slots(key_of(1), 4);
  decide();
  EXPECT_EQ(why(1), std::nullopt) << "all of it is leased";
  EXPECT_EQ(why(77), std::nullopt) << "the job is unknown";
}

TEST_F(WaitingTest, WhatNoWorkerHasIsNamedWithHowManyLackIt) {
  Job job = known_job(1);
  job.requirements.features = {"shader-f16", "subgroups"};
  job.requirements.limits = {{"maxComputeInvocationsPerWorkgroup", 1024}};
  job.requirements.memory_bytes = 4 * gib;
  for (std::uint64_t number = 1; number <= 3; ++number) {
    Worker worker = native_worker(number);
    worker.capabilities.features = {"subgroups"};
    if (number == 1) worker.capabilities.memory_bytes = 8 * gib;
    if (number < 3) worker.capabilities.limits = {{"maxComputeInvocationsPerWorkgroup", 1024}};
    if (number == 3) worker.capabilities.device = protocol::DeviceKind::cpu;
    add(worker);
  }
  add(job);
  decide();

  ASSERT_EQ(why(1), WaitReason::requirements);
  ASSERT_EQ(waiting->lacks.size(), 4U);
  EXPECT_EQ(waiting->lacks[0].what, "the feature shader-f16");
  EXPECT_EQ(waiting->lacks[0].workers, 3U);
  EXPECT_EQ(waiting->lacks[1].what, "4096 MiB of memory");
  EXPECT_EQ(waiting->lacks[1].workers, 2U);
  EXPECT_THAT(sentence(*waiting), HasSubstr("None of 3 workers has all"));
  EXPECT_THAT(sentence(*waiting),
              HasSubstr("the limit maxComputeInvocationsPerWorkgroup of 1024 (1 has not)"));

  Worker able = native_worker(9);
  able.capabilities.features = {"shader-f16", "subgroups"};
  able.capabilities.limits = job.requirements.limits;
  able.capabilities.memory_bytes = 4 * gib;
  add(able);
  EXPECT_FALSE(decide().empty());
}

// A missing requirement is named exactly if the scheduler finds that the worker does not fit.
TEST_F(WaitingTest, AWorkerLacksSomethingExactlyWhereItDoesNotFit) {
  for (int bits = 0; bits < 32; ++bits) {
    Worker worker = native_worker(1);
    worker.capabilities.memory_bytes = (bits & 1) != 0 ? 2 * gib : gib;
    if ((bits & 2) != 0) worker.capabilities.features = {"f"};
    if ((bits & 4) != 0) worker.capabilities.limits = {{"l", (bits & 8) != 0 ? 8U : 7U}};
    if ((bits & 16) != 0) worker.capabilities.device = protocol::DeviceKind::cpu;
    for (const auto kind : {manifest::Kind::wgsl, manifest::Kind::kernel}) {
      const ClassKey key{
          .kind = kind, .features = {"f"}, .limits = {{"l", 8}}, .memory_bytes = 2 * gib};
      EXPECT_EQ(fits(worker, key), lacking(worker, key).empty()) << bits;
    }
  }
}

TEST_F(WaitingTest, ReplicasThatNeedMoreWalletsThanThereAreSayHowMany) {
  add(native_worker(1));
  add(native_worker(2));
  add(known_job(1, 1, 3));
  ASSERT_EQ(decide().size(), 2U);

  ASSERT_EQ(why(1), WaitReason::wallets);
  EXPECT_EQ(waiting->replicas, 3U);
  EXPECT_EQ(waiting->placed, 2U);
  EXPECT_EQ(waiting->able, 2U);

  add(one_at_a_time(3));
  decide();
  EXPECT_EQ(why(1), std::nullopt);
}

TEST_F(WaitingTest, ATaskThatIsTooLongForEveryWorkerSaysHowLongItWouldTake) {
  add(one_at_a_time(1));
  add(one_at_a_time(2, 0.5));
  Job before = known_job(1, 2);
  before.priority = 100;
  add(before);
  ASSERT_EQ(decide().size(), 2U);
  add(known_job(2, 1, 1, 9));  // A task of 90 s at the reference rate.
  decide();

  ASSERT_EQ(why(2), WaitReason::too_slow);
  EXPECT_NEAR(*waiting->seconds, 90, 1e-6);
  EXPECT_EQ(waiting->seconds_max, 30);
  EXPECT_THAT(sentence(*waiting), HasSubstr("90 s on the fastest of 2 workers, and may take 30 s"));

  add(one_at_a_time(3, 10));
  EXPECT_EQ(decide().size(), 1U) << "nine seconds there";
}

TEST_F(WaitingTest, TheRestOfAJobWaitsForItsCanary) {
  add(native_worker(1));
  add(browser_worker(2));
  add(small_job(1, 4));
  ASSERT_EQ(decide().size(), 1U);

  EXPECT_EQ(why(1), WaitReason::canary);
  add(small_job(2, 1));
  decide();
  EXPECT_EQ(why(2), std::nullopt) << "all there is of it is under way";
}

TEST_F(WaitingTest, AJobThatWaitsForABusyWorkerHearsItsPlaceAndWhenOneGetsFree) {
  add(one_at_a_time(1));
  add(known_job(1, 1, 1, 2));  // A task that takes 20 s.
  ASSERT_EQ(decide().size(), 1U);
  add(known_job(2));
  add(known_job(3));
  decide(5);

  ASSERT_EQ(why(3, 5), WaitReason::busy);
  EXPECT_EQ(waiting->position, 2U);
  EXPECT_NEAR(*waiting->seconds, 15, 1e-6);
  EXPECT_EQ(waiting->able, 1U);
  EXPECT_EQ(sentence(*waiting),
            "The worker that can run the job has enough to do. The first is expected to be free in "
            "15 s. 1 job comes first.");
  ASSERT_EQ(why(2, 5), WaitReason::busy);
  EXPECT_EQ(waiting->position, 1U);
}

TEST_F(WaitingTest, ATaskThatFailedOnTheOnlyWorkerSaysWhenItIsTriedAgain) {
  add(native_worker(1));
  add(known_job(1, 1));
  ASSERT_EQ(decide().size(), 1U);
  ASSERT_TRUE(
      scheduler
          .failed({job_id_of(1), 0}, key_of(1), 1, {ErrorCode::internal, "It went wrong."}, at(1))
          .has_value());
  EXPECT_TRUE(decide(1).empty());

  ASSERT_EQ(why(1, 1), WaitReason::retry);
  EXPECT_NEAR(*waiting->seconds, 0.5, 1e-6);
  EXPECT_EQ(decide(1.6).size(), 1U);
}

TEST_F(WaitingTest, MemoryOfASharedWorkerAndReservationsInIt) {
  Worker shared = native_worker(1);
  shared.sharing = Sharing::sliced;
  add(shared);
  Job large = known_job(1, 1, 1, 2);
  large.requirements.memory_bytes = gib * 3 / 4;
  add(large);
  ASSERT_EQ(decide().size(), 1U);
  Job half = known_job(2, 1, 1, 2);
  half.requirements.memory_bytes = gib / 2;
  add(half);
  decide();
  EXPECT_EQ(why(2), WaitReason::reserved);
  Job other = half;
  other.id = job_id_of(3);
  add(other);
  decide();
  EXPECT_EQ(why(3), WaitReason::memory);
  Job small = known_job(4, 1, 1, 2.5);
  small.requirements.memory_bytes = gib / 4;
  small.priority = 0;
  Job long_small = known_job(5, 3, 1, 2.9);
  long_small.requirements.memory_bytes = gib / 4;
  long_small.priority = 0;
  add(small);
  add(long_small);
  decide();
  EXPECT_EQ(why(5), WaitReason::memory);
}

TEST_F(WaitingTest, AskingChangesNothing) {
  std::vector<std::size_t> leases[2];
  for (const bool asks : {false, true}) {
    Scheduler one(patient());
    for (std::uint64_t number = 1; number <= 5; ++number)
      ASSERT_TRUE(one.add_worker(native_worker(number, 0.3 * static_cast<double>(number)), at(0)));
    for (std::uint64_t number = 1; number <= 12; ++number) {
      ASSERT_TRUE(one.add_job(
          known_job(number, 3, 1 + number % 4, 0.4 * static_cast<double>(number)), at(0)));
    }
    for (int step = 0; step < 200; ++step) {
      const auto now = at(step * 0.7);
      const auto given = all<Lease>(one.decide(now));
      leases[asks].push_back(given.size());
      for (std::uint64_t number = 1; asks && number <= 12; ++number)
        (void)one.views().waiting(job_id_of(number), now);
      for (const Lease& lease : given) {
        for (const auto& task : lease.tasks) {
          const TaskId id{lease.job, task.index};
          (void)one.result(
              {.task = id, .worker = lease.worker, .attempt = task.attempt, .gpu_seconds = 0.5},
              at(step * 0.7 + 0.5));
          one.counted(id, lease.worker);
        }
      }
    }
  }
  EXPECT_EQ(leases[0], leases[1]);
}

}  // namespace
}  // namespace weft::scheduler
