// Tests that long tasks store checkpoints, make way for urgent tasks at a checkpoint, and continue
// later, and that the histories of workers' presence can be stored and restored.
#include <gtest/gtest.h>

#include <map>

#include "decisions/scheduler/scheduler.h"
#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

// A job of `tasks` tasks, each with 20 workgroups, which takes 100 s on one worker.
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
Held held_by(const Lease& lease) {
  return {{lease.job, lease.tasks.at(0).index}, lease.worker, lease.tasks.at(0).attempt};
}

TEST(Checkpoints, AreWantedOfLongTasksAndOfCanaries) {
  Scheduler scheduler(patient());
  for (std::uint64_t worker = 1; worker <= 3; ++worker)
    ASSERT_TRUE(scheduler.add_worker(native_worker(worker), at(0)));
  ASSERT_TRUE(scheduler.add_job(long_job(1), at(0)));
  // The task of this job takes a second.
  ASSERT_TRUE(scheduler.add_job(known_job(2, 1, 1, 0.1), at(0)));
  ASSERT_TRUE(scheduler.add_job(small_job(3, 1), at(0)));

  std::map<JobId, std::uint32_t> wanted;
  for (const Lease& lease : all<Lease>(scheduler.decide(at(0))))
    wanted[lease.job] = lease.checkpoint_ms;

  EXPECT_EQ(wanted[job_id_of(1)], 250U);
  EXPECT_EQ(wanted[job_id_of(2)], 0U);
  EXPECT_EQ(wanted[job_id_of(3)], 250U);
}

TEST(Checkpoints, ALongTaskIsAskedToMakeWayAndTheUrgentOneTakesItsPlace) {
  Scheduler scheduler(patient());
  ASSERT_TRUE(scheduler.add_worker(native_worker(1), at(0)));
  ASSERT_TRUE(scheduler.add_job(long_job(1), at(0)));
  const Held victim = held_by(all<Lease>(scheduler.decide(at(0))).at(0));
  ASSERT_TRUE(scheduler.checkpointed(
      {.task = victim.task, .worker = victim.worker, .attempt = 1, .done = 0.05}, at(5)));
  ASSERT_TRUE(scheduler.add_job(urgent_job(2), at(14)));

  const auto asked = all<Yield>(
      // 9 % of the work were done since the checkpoint, so that stopping now would lose too much.
      scheduler.decide(at(14)));
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].task.task, victim.task);
  EXPECT_TRUE(all<Yield>(scheduler.decide(at(15))).empty()) << "it is asked once";
  ASSERT_TRUE(scheduler.checkpointed(
      {.task = victim.task, .worker = victim.worker, .attempt = 1, .done = 0.15, .stopped = true},
      at(15)));
  const auto decisions = scheduler.decide(at(15));

  const auto leases = all<Lease>(decisions);
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].job, job_id_of(2));
  EXPECT_TRUE(all<Cancel>(decisions).empty()) << "it has stopped by itself";
  EXPECT_EQ(all<LeaseLost>(decisions).size(), 1U);
  EXPECT_EQ(scheduler.views().preemptions(), 1U);

  // After the urgent task is done, the long task continues as another attempt.
  ASSERT_TRUE(scheduler.result(
      {.task = held_by(leases[0]).task, .worker = key_of(1), .attempt = 1, .gpu_seconds = 1},
      at(16)));
  const auto again = all<Lease>(scheduler.decide(at(16)));
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].job, job_id_of(1));
  EXPECT_GT(again[0].tasks[0].attempt, 1U);
}

// The length of a canary is not known at first, so that other tasks are put after it on its worker.
// The first checkpoint of the canary shows its length.
TEST(Checkpoints, ALongCanaryMakesWayToo) {
  Scheduler scheduler(patient());
  ASSERT_TRUE(scheduler.add_worker(native_worker(1), at(0)));
  Job canary = small_job(1, 1);
  canary.priority = 0;
  ASSERT_TRUE(scheduler.add_job(canary, at(0)));
  const Held victim = held_by(all<Lease>(scheduler.decide(at(0))).at(0));
  ASSERT_TRUE(scheduler.checkpointed(
      {.task = victim.task, .worker = victim.worker, .attempt = 1, .done = 0.05}, at(5)));
  ASSERT_TRUE(scheduler.checkpointed(
      {.task = victim.task, .worker = victim.worker, .attempt = 1, .done = 0.2}, at(20)));
  Job urgent = small_job(2, 1);  // The only task of this job is its canary.
  urgent.priority = 100;
  ASSERT_TRUE(scheduler.add_job(urgent, at(21)));

  const auto decisions = scheduler.decide(at(21));

  ASSERT_EQ(all<Cancel>(decisions).size(), 1U);
  const auto leases = all<Lease>(decisions);
  ASSERT_FALSE(leases.empty());
  EXPECT_EQ(leases[0].job, job_id_of(2));
  EXPECT_TRUE(all<JobFailed>(decisions).empty());
  // The long canary waits on the worker after the urgent task, which is a canary of unknown length,
  // too.
  ASSERT_EQ(leases.size(), 2U);
  EXPECT_EQ(leases[1].tasks[0].attempt, 2U);
}

TEST(Checkpoints, ATaskThatHasJustKeptItsStateIsStoppedAtOnce) {
  Scheduler scheduler(patient());
  ASSERT_TRUE(scheduler.add_worker(native_worker(1), at(0)));
  ASSERT_TRUE(scheduler.add_job(long_job(1), at(0)));
  const Held victim = held_by(all<Lease>(scheduler.decide(at(0))).at(0));
  ASSERT_TRUE(scheduler.checkpointed(
      {.task = victim.task, .worker = victim.worker, .attempt = 1, .done = 0.2}, at(20)));
  ASSERT_TRUE(scheduler.add_job(urgent_job(2), at(21)));

  const auto decisions = scheduler.decide(at(21));

  ASSERT_EQ(all<Cancel>(decisions).size(), 1U);
  EXPECT_EQ(all<Cancel>(decisions)[0].tasks.at(0).task, victim.task);
  ASSERT_EQ(all<Lease>(decisions).size(), 1U);
  EXPECT_EQ(all<Lease>(decisions)[0].job, job_id_of(2));
}

TEST(Checkpoints, NoTaskMakesWayForEqualsOrIfAnotherWorkerIsFree) {
  for (const bool free_worker : {false, true}) {
    Scheduler scheduler(patient());
    ASSERT_TRUE(scheduler.add_worker(native_worker(1), at(0)));
    ASSERT_TRUE(scheduler.add_job(long_job(1), at(0)));
    const Held victim = held_by(all<Lease>(scheduler.decide(at(0))).at(0));
    ASSERT_TRUE(scheduler.checkpointed(
        {.task = victim.task, .worker = victim.worker, .attempt = 1, .done = 0.2}, at(20)));
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

// Two workers each run a replica of a task of 100 s and have stored 20 s of it. One of them makes
// way for an urgent job at 21 s.
struct Replicated {
  Scheduler scheduler{patient()};
  Held urgent;
  PublicKey made_way;

  explicit Replicated(double urgent_pace = 0.1) {
    for (std::uint64_t number = 1; number <= 2; ++number)
      EXPECT_TRUE(scheduler.add_worker(native_worker(number), at(0)));
    Job job = long_job(1);
    job.replicas = 2;
    job.states_shared = false;
    EXPECT_TRUE(scheduler.add_job(job, at(0)));
    for (const Lease& lease : all<Lease>(scheduler.decide(at(0)))) {
      const Held held = held_by(lease);
      EXPECT_TRUE(scheduler.checkpointed(
          {.task = held.task, .worker = held.worker, .attempt = held.attempt, .done = 0.2},
          at(20)));
    }
    Job wanted = known_job(2, 1, 1, urgent_pace);
    wanted.priority = 100;
    EXPECT_TRUE(scheduler.add_job(wanted, at(21)));
    const auto decisions = scheduler.decide(at(21));
    EXPECT_EQ(all<Cancel>(decisions).size(), 1U) << "one replica makes way, not both";
    const auto leases = all<Lease>(decisions);
    EXPECT_EQ(leases.size(), 1U);
    if (leases.empty()) return;
    urgent = held_by(leases[0]);
    made_way = urgent.worker;
  }
  std::vector<Lease> decide(double time) { return all<Lease>(scheduler.decide(at(time))); }
};

TEST(Checkpoints, AReplicaMakesWayAndTheWorkerThatHasItsStateGoesOnWithIt) {
  Replicated network;
  ASSERT_TRUE(network.scheduler.add_worker(native_worker(3), at(22)));
  EXPECT_TRUE(network.decide(22).empty()) << "it would begin what another has done a fifth of";
  const auto waiting = network.scheduler.views().waiting(job_id_of(1), at(22));
  ASSERT_TRUE(waiting.has_value());
  EXPECT_EQ(waiting->reason, WaitReason::own_state);
  EXPECT_NEAR(*waiting->seconds, 19, 1e-3);

  ASSERT_TRUE(network.scheduler.result({.task = network.urgent.task,
                                        .worker = network.urgent.worker,
                                        .attempt = 1,
                                        .gpu_seconds = 1},
                                       at(23)));
  const auto again = network.decide(23);

  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].job, job_id_of(1));
  EXPECT_EQ(again[0].worker, network.made_way);
  EXPECT_GT(again[0].tasks[0].attempt, 1U);
  EXPECT_EQ(network.scheduler.views().progress(job_id_of(1))->leased, 2U);
}

TEST(Checkpoints, AReplicaThatMadeWayIsBegunAnewWhereItsWorkerLeavesPausesOrStaysBusy) {
  enum class Way : std::uint8_t { leaves, pauses, stays_busy };
  for (const auto how : {Way::leaves, Way::pauses, Way::stays_busy}) {
    Replicated network(5);  // The urgent task takes 50 s.
    ASSERT_TRUE(network.scheduler.add_worker(native_worker(3), at(22)));
    ASSERT_TRUE(network.decide(22).empty());
    double time = 25;
    if (how == Way::leaves)
      network.scheduler.remove_worker(network.made_way, Departure::left, at(time));
    if (how == Way::pauses) network.scheduler.set_slots(network.made_way, 0);
    if (how == Way::stays_busy) {
      EXPECT_TRUE(network.decide(40).empty());
      EXPECT_LE(*network.scheduler.next_deadline(), at(41));
      time = 41.1;  // The reservation ends after 20 s, the time of the stored work.
    }

    std::map<JobId, PublicKey> leased;
    for (const Lease& lease : network.decide(time)) leased[lease.job] = lease.worker;

    // If the worker leaves, its urgent task waits, too, and comes first; the replica goes to the
    // next worker.
    if (how == Way::leaves) {
      EXPECT_EQ(leased[job_id_of(2)], key_of(3));
      ASSERT_TRUE(network.scheduler.add_worker(native_worker(4), at(26)));
      for (const Lease& lease : network.decide(26)) leased[lease.job] = lease.worker;
      EXPECT_EQ(leased[job_id_of(1)], key_of(4));
    } else {
      EXPECT_EQ(leased[job_id_of(1)], key_of(3));
    }
  }
}

TEST(Checkpoints, AWorkerGoesOnWithItsOwnStateBeforeItTakesAnOlderTask) {
  Scheduler scheduler(patient());
  for (std::uint64_t number = 1; number <= 2; ++number)
    ASSERT_TRUE(scheduler.add_worker(native_worker(number), at(0)));
  Job job = long_job(1, 2);
  job.replicas = 2;
  job.states_shared = false;
  ASSERT_TRUE(scheduler.add_job(job, at(0)));
  ASSERT_EQ(all<Lease>(scheduler.decide(at(0))).size(), 2U);
  ASSERT_TRUE(scheduler.add_worker(native_worker(3), at(0)));
  const Held victim = held_by(all<Lease>(scheduler.decide(at(0))).at(0));
  ASSERT_EQ(victim.task.index, 1U);
  ASSERT_TRUE(scheduler.checkpointed(
      {.task = victim.task, .worker = victim.worker, .attempt = victim.attempt, .done = 0.2},
      at(20)));
  scheduler.remove_worker(key_of(1), Departure::left,
                          at(20.5));  // The first task misses a replica now.
  EXPECT_TRUE(all<Lease>(scheduler.decide(at(20.5))).empty());
  ASSERT_TRUE(scheduler.add_job(urgent_job(2), at(21)));
  ASSERT_EQ(all<Cancel>(scheduler.decide(at(21))).size(), 1U);

  ASSERT_TRUE(scheduler.result(
      {.task = {job_id_of(2), 0}, .worker = victim.worker, .attempt = 1, .gpu_seconds = 1},
      at(22)));
  const auto again = all<Lease>(scheduler.decide(at(22)));

  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].worker, victim.worker);
  EXPECT_EQ(again[0].tasks.at(0).index, 1U);
}

TEST(Checkpoints, BothReplicasOfATaskMayMakeWayEachFromItsOwnState) {
  Replicated network(5);  // The urgent job takes 50 s: the second replica would wait for it.
  Job second = urgent_job(3);
  ASSERT_TRUE(network.scheduler.add_job(second, at(21.5)));
  const auto decisions = network.scheduler.decide(at(21.5));

  ASSERT_EQ(all<Cancel>(decisions).size(), 1U);
  EXPECT_EQ(all<Cancel>(decisions)[0].tasks.at(0).task.job, job_id_of(1));
  EXPECT_NE(all<Cancel>(decisions)[0].worker, network.made_way);
  EXPECT_EQ(network.scheduler.views().preemptions(), 2U);

  // Each replica continues on the worker that has its state.
  ASSERT_TRUE(network.scheduler.result({.task = {job_id_of(3), 0},
                                        .worker = all<Cancel>(decisions)[0].worker,
                                        .attempt = 1,
                                        .gpu_seconds = 1},
                                       at(22)));
  const auto first_again = network.decide(22);
  ASSERT_EQ(first_again.size(), 1U);
  EXPECT_EQ(first_again[0].worker, all<Cancel>(decisions)[0].worker);
  ASSERT_TRUE(network.scheduler.result(
      {.task = network.urgent.task, .worker = network.made_way, .attempt = 1, .gpu_seconds = 1},
      at(23)));
  const auto second_again = network.decide(23);
  ASSERT_EQ(second_again.size(), 1U);
  EXPECT_EQ(second_again[0].worker, network.made_way);
}

// After the result of one replica the scheduler still remembers the run of the other replica.
TEST(Checkpoints, AReplicaStaysPreemptibleAfterAnotherOfItsTaskIsDone) {
  Scheduler scheduler(patient());
  for (std::uint64_t number = 1; number <= 2; ++number)
    ASSERT_TRUE(scheduler.add_worker(native_worker(number), at(0)));
  Job job = long_job(1);
  job.replicas = 2;
  job.states_shared = false;
  ASSERT_TRUE(scheduler.add_job(job, at(0)));
  const auto leases = all<Lease>(scheduler.decide(at(0)));
  ASSERT_EQ(leases.size(), 2U);
  const Held slow = held_by(leases[1]);
  ASSERT_TRUE(scheduler.checkpointed(
      {.task = slow.task, .worker = slow.worker, .attempt = slow.attempt, .done = 0.2}, at(60)));
  ASSERT_TRUE(scheduler.result(
      {.task = slow.task, .worker = leases[0].worker, .attempt = 1, .gpu_seconds = 60}, at(61)));
  scheduler.counted(slow.task, leases[0].worker);
  scheduler.set_slots(leases[0].worker, 0);  // Only one worker has slots left.
  ASSERT_TRUE(scheduler.add_job(urgent_job(2), at(62)));

  const auto decisions = scheduler.decide(at(62));

  ASSERT_EQ(all<Cancel>(decisions).size(), 1U);
  EXPECT_EQ(all<Cancel>(decisions)[0].worker, slow.worker);
  ASSERT_EQ(all<Lease>(decisions).size(), 1U);
  EXPECT_EQ(all<Lease>(decisions)[0].job, job_id_of(2));
}

TEST(Checkpoints, AResumedTaskIsMeasuredByWhatItComputed) {
  Scheduler scheduler(patient());
  ASSERT_TRUE(scheduler.add_worker(native_worker(1), at(0)));
  ASSERT_TRUE(scheduler.add_job(long_job(1, 2), at(0)));
  const Held held = held_by(all<Lease>(scheduler.decide(at(0))).at(0));
  const double before = scheduler.views().load(key_of(1))->rate;

  // Nine tenths of the work came out of a checkpoint; the rest took its 10 s.
  ASSERT_TRUE(scheduler.result(
      {.task = held.task, .worker = held.worker, .attempt = 1, .gpu_seconds = 10, .resumed = 0.9},
      at(11)));

  EXPECT_NEAR(scheduler.views().load(key_of(1))->rate, before, before * 0.05);
}

TEST(Checkpoints, ASharedWorkersTasksHaveThePartitionsItSaid) {
  Scheduler scheduler(patient());
  Worker worker = native_worker(1);
  worker.sharing = Sharing::sliced;
  worker.slice_memory_bytes =
      std::uint64_t{400}  // 1 GiB holds two such partitions, although there are four slots.
      << 20;
  ASSERT_TRUE(scheduler.add_worker(worker, at(0)));
  ASSERT_TRUE(scheduler.add_job(known_job(1, 4, 1, 0.1), at(0)));

  std::size_t leased = 0;
  for (const Lease& lease : all<Lease>(scheduler.decide(at(0)))) leased += lease.tasks.size();

  EXPECT_EQ(leased, 2U);
}

TEST(Checkpoints, WhatIsKnownOfAWorkerIsTakenUpAgain) {
  constexpr UnixMillis noon = UnixMillis{20'000} * 86'400'000 + 12 * 3'600'000;
  Scheduler first;
  first.histories().set_clock(at(0), noon);
  // The worker leaves after a minute, ten times.
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(first.add_worker(native_worker(1), at(i * 100)));
    first.remove_worker(key_of(1), Departure::left, at(i * 100 + 60));
  }
  const auto moved = first.histories().take_moved();
  ASSERT_FALSE(moved.empty());
  EXPECT_EQ(moved[0], key_of(1));
  EXPECT_TRUE(first.histories().take_moved().empty());

  Scheduler second;
  second.histories().set_clock(at(0), noon + 1'000'000);
  second.histories().restore(key_of(1), first.views().presence(key_of(1))->seen());
  ASSERT_TRUE(second.add_worker(native_worker(1), at(0)));
  ASSERT_TRUE(second.add_worker(native_worker(2), at(0)));

  EXPECT_LT(*second.views().stays(key_of(1), 600, at(1)), 0.3);
  EXPECT_GT(*second.views().stays(key_of(2), 600, at(1)), 0.7);
}

}  // namespace
}  // namespace weft::scheduler
