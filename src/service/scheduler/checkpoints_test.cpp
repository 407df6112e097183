// Long tasks keep their state where they are worth it, make way for urgent ones at a checkpoint and go on; what is known of workers'
// comings and goings can be stored and taken up again.
#include <gtest/gtest.h>

#include <map>

#include "service/scheduler/scheduler.h"
#include "service/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

// One task of 100 s on one worker, and 20 workgroups of them each.
Job long_job(std::uint64_t number, std::uint32_t tasks = 1) {
  Job job = known_job(number, tasks, 1, 10);
  job.priority = 0;
  return job;
}
Job urgent_job(std::uint64_t number) {
  Job job = known_job(number, 1, 1, 0.1);
  job.priority = 100;
  return job;
}
Settings patient() {
  Settings settings;
  settings.wall_max = std::chrono::minutes(10);
  settings.beat = std::chrono::hours(1);
  settings.leaving_risk_max = 1;
  settings.speculation.enabled = false;
  return settings;
}

struct Held {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
};
Held held_by(const Lease& lease) { return {{lease.job, lease.tasks.at(0).index}, lease.worker, lease.tasks.at(0).attempt}; }

TEST(Checkpoints, AreWantedOfLongTasksAndOfCanaries) {
  Scheduler scheduler(patient());
  for (std::uint64_t worker = 1; worker <= 3; ++worker) ASSERT_TRUE(scheduler.add_worker(native_worker(worker), at(0)));
  ASSERT_TRUE(scheduler.add_job(long_job(1), at(0)));
  ASSERT_TRUE(scheduler.add_job(known_job(2, 1, 1, 0.1), at(0)));  // A second.
  ASSERT_TRUE(scheduler.add_job(small_job(3, 1), at(0)));

  std::map<JobId, std::uint32_t> wanted;
  for (const Lease& lease : all<Lease>(scheduler.decide(at(0)))) wanted[lease.job] = lease.checkpoint_ms;

  EXPECT_EQ(wanted[job_id_of(1)], 250U);
  EXPECT_EQ(wanted[job_id_of(2)], 0U);
  EXPECT_EQ(wanted[job_id_of(3)], 250U);
}

TEST(Checkpoints, ALongTaskIsAskedToMakeWayAndTheUrgentOneTakesItsPlace) {
  Scheduler scheduler(patient());
  ASSERT_TRUE(scheduler.add_worker(native_worker(1), at(0)));
  ASSERT_TRUE(scheduler.add_job(long_job(1), at(0)));
  const Held victim = held_by(all<Lease>(scheduler.decide(at(0))).at(0));
  ASSERT_TRUE(scheduler.checkpointed({.task = victim.task, .worker = victim.worker, .attempt = 1, .done = 0.05}, at(5)));
  ASSERT_TRUE(scheduler.add_job(urgent_job(2), at(14)));

  const auto asked = all<Yield>(scheduler.decide(at(14)));  // 9 % are done since: stopping now would cost too much.
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].task.task, victim.task);
  EXPECT_TRUE(all<Yield>(scheduler.decide(at(15))).empty()) << "it is asked once";
  ASSERT_TRUE(scheduler.checkpointed({.task = victim.task, .worker = victim.worker, .attempt = 1, .done = 0.15, .stopped = true}, at(15)));
  const auto decisions = scheduler.decide(at(15));

  const auto leases = all<Lease>(decisions);
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].job, job_id_of(2));
  EXPECT_TRUE(all<Cancel>(decisions).empty()) << "it has stopped by itself";
  EXPECT_EQ(all<LeaseLost>(decisions).size(), 1U);
  EXPECT_EQ(scheduler.preemptions(), 1U);

  // The urgent one is done; the other goes on, as another attempt.
  ASSERT_TRUE(scheduler.result({.task = held_by(leases[0]).task, .worker = key_of(1), .attempt = 1, .gpu_seconds = 1}, at(16)));
  const auto again = all<Lease>(scheduler.decide(at(16)));
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].job, job_id_of(1));
  EXPECT_GT(again[0].tasks[0].attempt, 1U);
}

// The length of a canary is not known, and others are put behind it; with its first checkpoint it is.
TEST(Checkpoints, ALongCanaryMakesWayToo) {
  Scheduler scheduler(patient());
  ASSERT_TRUE(scheduler.add_worker(native_worker(1), at(0)));
  Job canary = small_job(1, 1);
  canary.priority = 0;
  ASSERT_TRUE(scheduler.add_job(canary, at(0)));
  const Held victim = held_by(all<Lease>(scheduler.decide(at(0))).at(0));
  ASSERT_TRUE(scheduler.checkpointed({.task = victim.task, .worker = victim.worker, .attempt = 1, .done = 0.05}, at(5)));
  ASSERT_TRUE(scheduler.checkpointed({.task = victim.task, .worker = victim.worker, .attempt = 1, .done = 0.2}, at(20)));
  Job urgent = small_job(2, 1);  // Its canary.
  urgent.priority = 100;
  ASSERT_TRUE(scheduler.add_job(urgent, at(21)));

  const auto decisions = scheduler.decide(at(21));

  ASSERT_EQ(all<Cancel>(decisions).size(), 1U);
  const auto leases = all<Lease>(decisions);
  ASSERT_FALSE(leases.empty());
  EXPECT_EQ(leases[0].job, job_id_of(2));
  EXPECT_TRUE(all<JobFailed>(decisions).empty());
  // The other is behind it, whose length is not known either.
  ASSERT_EQ(leases.size(), 2U);
  EXPECT_EQ(leases[1].tasks[0].attempt, 2U);
}

TEST(Checkpoints, ATaskThatHasJustKeptItsStateIsStoppedAtOnce) {
  Scheduler scheduler(patient());
  ASSERT_TRUE(scheduler.add_worker(native_worker(1), at(0)));
  ASSERT_TRUE(scheduler.add_job(long_job(1), at(0)));
  const Held victim = held_by(all<Lease>(scheduler.decide(at(0))).at(0));
  ASSERT_TRUE(scheduler.checkpointed({.task = victim.task, .worker = victim.worker, .attempt = 1, .done = 0.2}, at(20)));
  ASSERT_TRUE(scheduler.add_job(urgent_job(2), at(21)));

  const auto decisions = scheduler.decide(at(21));

  ASSERT_EQ(all<Cancel>(decisions).size(), 1U);
  EXPECT_EQ(all<Cancel>(decisions)[0].tasks.at(0).task, victim.task);
  ASSERT_EQ(all<Lease>(decisions).size(), 1U);
  EXPECT_EQ(all<Lease>(decisions)[0].job, job_id_of(2));
}

TEST(Checkpoints, NobodyMakesWayForEqualsOrWhereAnotherWorkerIsFree) {
  for (const bool free_worker : {false, true}) {
    Scheduler scheduler(patient());
    ASSERT_TRUE(scheduler.add_worker(native_worker(1), at(0)));
    ASSERT_TRUE(scheduler.add_job(long_job(1), at(0)));
    const Held victim = held_by(all<Lease>(scheduler.decide(at(0))).at(0));
    ASSERT_TRUE(scheduler.checkpointed({.task = victim.task, .worker = victim.worker, .attempt = 1, .done = 0.2}, at(20)));
    if (free_worker) {
      ASSERT_TRUE(scheduler.add_worker(native_worker(2), at(20)));
    }
    ASSERT_TRUE(scheduler.add_job(free_worker ? urgent_job(2) : long_job(2), at(21)));

    for (int second = 21; second < 60; ++second) {
      const auto decisions = scheduler.decide(at(second));
      EXPECT_TRUE(all<Cancel>(decisions).empty());
      EXPECT_TRUE(all<Yield>(decisions).empty());
    }
  }
}

TEST(Checkpoints, AResumedTaskIsMeasuredByWhatItComputed) {
  Scheduler scheduler(patient());
  ASSERT_TRUE(scheduler.add_worker(native_worker(1), at(0)));
  ASSERT_TRUE(scheduler.add_job(long_job(1, 2), at(0)));
  const Held held = held_by(all<Lease>(scheduler.decide(at(0))).at(0));
  const double before = scheduler.load(key_of(1))->rate;

  // Nine tenths came out of a checkpoint; the rest took its 10 s.
  ASSERT_TRUE(scheduler.result({.task = held.task, .worker = held.worker, .attempt = 1, .gpu_seconds = 10, .resumed = 0.9}, at(11)));

  EXPECT_NEAR(scheduler.load(key_of(1))->rate, before, before * 0.05);
}

TEST(Checkpoints, ASharedWorkersTasksHaveThePartitionsItSaid) {
  Scheduler scheduler(patient());
  Worker worker = native_worker(1);
  worker.sharing = Sharing::sliced;
  worker.slice_memory_bytes = std::uint64_t{400} << 20;  // Of a GiB: two at a time, whatever its four slots.
  ASSERT_TRUE(scheduler.add_worker(worker, at(0)));
  ASSERT_TRUE(scheduler.add_job(known_job(1, 4, 1, 0.1), at(0)));

  std::size_t leased = 0;
  for (const Lease& lease : all<Lease>(scheduler.decide(at(0)))) leased += lease.tasks.size();

  EXPECT_EQ(leased, 2U);
}

TEST(Checkpoints, WhatIsKnownOfAWorkerIsTakenUpAgain) {
  constexpr UnixMillis noon = UnixMillis{20'000} * 86'400'000 + 12 * 3'600'000;
  Scheduler first;
  first.set_clock(at(0), noon);
  // It leaves after a minute, ten times.
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(first.add_worker(native_worker(1), at(i * 100)));
    first.remove_worker(key_of(1), Departure::left, at(i * 100 + 60));
  }
  const auto moved = first.take_moved();
  ASSERT_FALSE(moved.empty());
  EXPECT_EQ(moved[0], key_of(1));
  EXPECT_TRUE(first.take_moved().empty());

  Scheduler second;
  second.set_clock(at(0), noon + 1'000'000);
  second.restore_presence(key_of(1), first.presence(key_of(1))->seen());
  ASSERT_TRUE(second.add_worker(native_worker(1), at(0)));
  ASSERT_TRUE(second.add_worker(native_worker(2), at(0)));

  EXPECT_LT(*second.stays(key_of(1), 600, at(1)), 0.3);
  EXPECT_GT(*second.stays(key_of(2), 600, at(1)), 0.7);
}

}  // namespace
}  // namespace weft::scheduler
