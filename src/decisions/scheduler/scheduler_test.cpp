// Which worker gets what, when, and what is done about workers and jobs that go wrong. The time is
// a number here.
#include "decisions/scheduler/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

using enum ErrorCode;

// A scheduler and the leases it has given, so that a test can answer them by worker and task.
struct Rig {
  Scheduler scheduler{Settings{}};
  std::vector<Decision> last;
  std::map<std::pair<TaskId, PublicKey>, std::uint32_t> attempts;

  std::vector<Lease> decide(double time) {
    last = scheduler.decide(at(time));
    for (const Lease& lease : all<Lease>(last)) {
      for (const auto& task : lease.tasks)
        attempts[{{lease.job, task.index}, lease.worker}] = task.attempt;
    }
    return all<Lease>(last);
  }
  void add(const Worker& worker, double time = 0) {
    ASSERT_TRUE(scheduler.add_worker(worker, at(time)).has_value());
  }
  void add(const Job& job, double time = 0, std::span<const TaskProgress> progress = {}) {
    ASSERT_TRUE(scheduler.add_job(job, at(time), progress).has_value());
  }
  Result<> report(std::uint64_t job, std::uint32_t index, std::uint64_t worker, double time,
                  double gpu_seconds = 1) {
    const TaskId task{job_id_of(job), index};
    return scheduler.result({.task = task,
                             .worker = key_of(worker),
                             .attempt = attempts[{task, key_of(worker)}],
                             .gpu_seconds = gpu_seconds},
                            at(time));
  }
  // A result that is accepted at once.
  void finish(std::uint64_t job, std::uint32_t index, std::uint64_t worker, double time,
              double gpu_seconds = 1) {
    ASSERT_TRUE(report(job, index, worker, time, gpu_seconds).has_value());
    scheduler.counted({job_id_of(job), index}, key_of(worker));
    scheduler.settled({job_id_of(job), index});
  }
  Result<> fail_task(std::uint64_t job, std::uint32_t index, std::uint64_t worker, double time,
                     ErrorCode code) {
    const TaskId task{job_id_of(job), index};
    return scheduler.failed(task, key_of(worker), attempts[{task, key_of(worker)}],
                            {code, "It went wrong."}, at(time));
  }
};

std::size_t tasks_in(const std::vector<Lease>& leases) {
  std::size_t count = 0;
  for (const Lease& lease : leases) count += lease.tasks.size();
  return count;
}

// --- The canary
// --------------------------------------------------------------------------------------------------------

TEST(Canary, LeasesTheFirstTaskAloneAndToANativeWorker) {
  Rig rig;
  rig.add(browser_worker(1, 9));
  rig.add(native_worker(2));
  rig.add(native_worker(3));
  rig.add(small_job(1, 8));

  const auto leases = rig.decide(0);

  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].worker, key_of(2));
  EXPECT_TRUE(leases[0].canary);
  ASSERT_EQ(leases[0].tasks.size(), 1U);
  EXPECT_EQ(leases[0].tasks[0].index, 0U);
  EXPECT_EQ(leases[0].tasks[0].count, 10U);
}

TEST(Canary, WaitsForABusyNativeWorkerRatherThanGoToABrowser) {
  Rig rig;
  Worker native = native_worker(1);
  native.slots = 1;
  rig.add(native);
  rig.add(known_job(1, 1));
  ASSERT_EQ(rig.decide(0).size(), 1U);
  rig.add(browser_worker(2));
  rig.add(small_job(2));

  EXPECT_TRUE(rig.decide(0.1).empty());
  rig.finish(1, 0, 1, 1);
  const auto leases = rig.decide(1);

  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].worker, key_of(1));
}

TEST(Canary, GoesToOneBrowserInSingleWorkgroupsWhereOnlyBrowsersAreConnected) {
  Rig rig;
  rig.add(browser_worker(1));
  rig.add(browser_worker(2));
  rig.add(small_job(1));

  const auto leases = rig.decide(0);

  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].piece_workgroups_max, 1U);
}

TEST(Canary, GoesToABrowserWhenTheLastNativeWorkerLeaves) {
  Rig rig;
  Worker native = native_worker(1);
  native.slots = 1;
  rig.add(native);
  rig.add(browser_worker(2));
  Job busy = known_job(1, 1, 1, 1e-6);
  busy.priority = 90;
  rig.add(busy);
  rig.add(small_job(2));
  rig.decide(0);

  rig.scheduler.remove_worker(key_of(1), Departure::left, at(1));
  const auto leases = rig.decide(1);

  ASSERT_EQ(leases.size(), 2U);
  EXPECT_TRUE(
      std::ranges::all_of(leases, [](const Lease& lease) { return lease.worker == key_of(2); }));
}

TEST(Canary, PricesTheJobAndLetsTheRestGo) {
  Rig rig;
  rig.add(native_worker(1, 0.5));
  rig.add(browser_worker(2, 0.1));
  rig.add(small_job(1, 8));
  rig.decide(0);

  ASSERT_TRUE(rig.report(1, 0, 1, 10, 4)
                  .has_value());  // 10 workgroups in 4 s on half the reference: 0.2 s each.
  const auto leases = rig.decide(10);

  const auto estimated = all<Estimated>(rig.last);
  ASSERT_EQ(estimated.size(), 1U);
  EXPECT_DOUBLE_EQ(estimated[0].estimate.units, 80 * 0.2);
  EXPECT_EQ(estimated[0].estimate.price, 16'000'000);
  EXPECT_EQ(leases.size(), 2U) << "both workers have work now";
}

TEST(Canary, PricesAJobAlikeWhateverTheWorkerDidBefore) {
  Rig rig;
  rig.add(native_worker(1, 0.5));
  double time = 0;
  for (std::uint64_t job = 1; job <= 4; ++job) {
    rig.add(small_job(job, 8), time);
    for (std::uint32_t index = 0; index < 8; ++index) {
      rig.decide(time);
      if (index == 1) {
        const auto estimated = all<Estimated>(rig.last);
        ASSERT_EQ(estimated.size(), 1U);
        EXPECT_DOUBLE_EQ(estimated[0].estimate.units, 80 * 0.2) << "job " << job;
      }
      time += 5;
      rig.scheduler.heard(key_of(1), at(time));
      rig.finish(job, index, 1, time, index % 2 == 0 ? 4 : 1);  // Rows are unlike.
    }
    rig.decide(time);
  }
}

TEST(Canary, CutsDispatchesToWhatFitsIntoATenthOfASecondOnTheWorker) {
  Rig rig;
  rig.add(native_worker(1, 1));
  rig.add(browser_worker(2, 0.5));
  Job job = small_job(1, 4);
  job.workgroups = 4000;
  rig.add(job);
  rig.decide(0);

  ASSERT_TRUE(rig.report(1, 0, 1, 10, 1)
                  .has_value());  // 1000 workgroups in a second: 1 ms each, 2 ms on the browser.
  const auto leases = rig.decide(10);

  ASSERT_EQ(leases.size(), 2U);
  std::map<PublicKey, std::uint32_t> pieces;
  for (const Lease& lease : leases) pieces[lease.worker] = lease.piece_workgroups_max;
  EXPECT_EQ(pieces[key_of(1)], 100U);
  EXPECT_EQ(pieces[key_of(2)], 50U);
}

TEST(Canary, EndsAJobThatIsAboveItsBudget) {
  Rig rig;
  rig.add(native_worker(1));
  Job job = small_job(1, 8);
  job.budget = 1'000'000;
  rig.add(job);
  rig.decide(0);

  ASSERT_TRUE(rig.report(1, 0, 1, 10, 4).has_value());
  rig.decide(10);

  const auto failed = all<JobFailed>(rig.last);
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].reason.code, insufficient_funds);
  EXPECT_EQ(failed[0].reason.message,
            "The job is estimated at 32.000000 credits (32.000000 compute units); its budget is "
            "1.000000: raise \"budget\" in the manifest.");
  EXPECT_EQ(rig.scheduler.views().jobs(), 0U);
}

TEST(Canary, EndsTheJobAtOnceWhereTheShaderIsWrong) {
  for (const ErrorCode code : {invalid_argument, resource_exhausted}) {
    Rig rig;
    rig.add(native_worker(1));
    rig.add(small_job(1));
    rig.decide(0);

    ASSERT_TRUE(rig.fail_task(1, 0, 1, 1, code).has_value());
    rig.decide(1);

    ASSERT_EQ(all<JobFailed>(rig.last).size(), 1U);
    EXPECT_EQ(all<JobFailed>(rig.last)[0].reason, (Error{code, "It went wrong."}));
  }
}

TEST(Canary, EndsTheJobAfterTimeOutsOnTwoWorkers) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(native_worker(2));
  rig.add(small_job(1));
  rig.decide(0);

  ASSERT_TRUE(rig.fail_task(1, 0, 1, 30, deadline_exceeded).has_value());
  const auto second = rig.decide(30);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].worker, key_of(2)) << "not the same worker again";
  EXPECT_TRUE(second[0].canary);
  ASSERT_TRUE(rig.fail_task(1, 0, 2, 60, deadline_exceeded).has_value());
  rig.decide(60);

  ASSERT_EQ(all<JobFailed>(rig.last).size(), 1U);
  EXPECT_EQ(all<JobFailed>(rig.last)[0].reason.code, deadline_exceeded);
}

TEST(Canary, EndsTheJobAfterTwoTimeOutsOnTheOnlyWorker) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(small_job(1));
  rig.decide(0);

  ASSERT_TRUE(rig.fail_task(1, 0, 1, 30, deadline_exceeded).has_value());
  EXPECT_TRUE(rig.decide(30).empty());
  ASSERT_EQ(rig.decide(31).size(), 1U) << "the only worker gets it again after a while";
  ASSERT_TRUE(rig.fail_task(1, 0, 1, 61, deadline_exceeded).has_value());
  rig.decide(61);

  EXPECT_EQ(all<JobFailed>(rig.last).size(), 1U);
}

TEST(Canary, EndsTheJobAfterTwoBrowsersAreLostToIt) {
  Rig rig;
  rig.add(browser_worker(1));
  rig.add(browser_worker(2));
  rig.add(browser_worker(3));
  rig.add(small_job(1));
  const auto first = rig.decide(0);
  rig.scheduler.remove_worker(first[0].worker, Departure::lost, at(1));
  const auto second = rig.decide(1);
  ASSERT_EQ(second.size(), 1U);

  rig.scheduler.remove_worker(second[0].worker, Departure::lost, at(2));
  EXPECT_TRUE(rig.decide(2).empty());

  EXPECT_EQ(all<JobFailed>(rig.last).size(), 1U);
}

TEST(Canary, DoesNotBlameABrowserThatSaysGoodbye) {
  Rig rig;
  for (std::uint64_t i = 1; i <= 4; ++i) rig.add(browser_worker(i));
  rig.add(small_job(1));
  for (int round = 0; round < 3; ++round) {
    const auto leases = rig.decide(round);
    ASSERT_EQ(leases.size(), 1U);
    rig.scheduler.remove_worker(leases[0].worker, Departure::left, at(round));
  }
  EXPECT_EQ(rig.decide(3).size(), 1U);
}

// --- Matching
// ----------------------------------------------------------------------------------------------------------

TEST(Matching, GivesEveryWorkerATaskBeforeAnyoneGetsTwo) {
  Rig rig;
  for (std::uint64_t i = 1; i <= 5; ++i) rig.add(native_worker(i, i == 1 ? 100 : 0.01));
  rig.add(known_job(1, 5, 1, 1e-6));

  const auto leases = rig.decide(0);

  EXPECT_EQ(leases.size(), 5U);
}

TEST(Matching, FillsSlotsWithShortTasksInOneLease) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1, 100, 1, 1e-6));

  const auto leases = rig.decide(0);

  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].tasks.size(), 4U);
}

TEST(Matching, HoldsBackLongTasksForOthers) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1, 100, 1, 1.0));

  EXPECT_EQ(tasks_in(rig.decide(0)), 1U);
}

TEST(Matching, PrefersTheFasterWorker) {
  Rig rig;
  rig.add(native_worker(1, 1));
  rig.add(native_worker(2, 20));
  rig.add(known_job(1, 1));

  EXPECT_EQ(rig.decide(0)[0].worker, key_of(2));
}

TEST(Matching, ServesHigherPriorityFirstAndThenWhoCameFirst) {
  Rig rig;
  Job low = known_job(1, 1);
  Job high = known_job(2, 1);
  high.priority = 90;
  Job high_later = known_job(3, 1);
  high_later.priority = 90;
  rig.add(low);
  rig.add(high);
  rig.add(high_later);
  Worker worker = native_worker(1);
  worker.slots = 1;

  rig.add(worker);
  std::vector<JobId> order;
  for (int round = 0; round < 3; ++round) {
    const auto leases = rig.decide(round);
    ASSERT_EQ(leases.size(), 1U);
    order.push_back(leases[0].job);
    ASSERT_TRUE(rig.scheduler
                    .result({.task = {leases[0].job, 0},
                             .worker = key_of(1),
                             .attempt = leases[0].tasks[0].attempt},
                            at(round))
                    .has_value());
  }

  EXPECT_EQ(order, (std::vector{high.id, high_later.id, low.id}));
}

TEST(Matching, GivesReplicasToDifferentWorkers) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1, 2, 2, 1e-6));
  const auto alone = rig.decide(0);
  EXPECT_EQ(tasks_in(alone), 2U);
  ASSERT_TRUE(rig.report(1, 0, 1, 1, 1e-5).has_value());
  ASSERT_TRUE(rig.report(1, 1, 1, 1, 1e-5).has_value());
  EXPECT_TRUE(rig.decide(1).empty()) << "one worker never gets two replicas of a task";

  rig.add(native_worker(2), 1);

  EXPECT_EQ(tasks_in(rig.decide(1)), 2U);
}

TEST(Matching, FindsTheOnlyWorkerThatCanRunATask) {
  Rig rig;
  for (std::uint64_t i = 1; i <= 50; ++i) rig.add(native_worker(i));
  Worker special = native_worker(99);
  special.capabilities.features = {"shader-f16", "subgroups"};
  special.capabilities.limits = {{"maxStorageBufferBindingSize", 1 << 30}};
  special.capabilities.memory_bytes = std::uint64_t{64} << 30;
  rig.add(special);
  for (std::uint64_t i = 1; i <= 100; ++i) rig.add(known_job(i, 10));
  Job job = known_job(1000, 1);
  job.priority = 60;
  job.requirements = {.features = {"subgroups"},
                      .limits = {{"maxStorageBufferBindingSize", 1 << 29}},
                      .memory_bytes = std::uint64_t{32} << 30};
  rig.add(job);

  const auto leases = rig.decide(0);

  const auto found = std::ranges::find(leases, job.id, &Lease::job);
  ASSERT_NE(found, leases.end());
  EXPECT_EQ(found->worker, key_of(99));
}

TEST(Matching, GivesCpuWorkersKernelsOnly) {
  Rig rig;
  Worker cpu = native_worker(1);
  cpu.capabilities.device = protocol::DeviceKind::cpu;
  rig.add(cpu);
  rig.add(known_job(1));
  EXPECT_TRUE(rig.decide(0).empty());
  Job kernel = known_job(2);
  kernel.kind = manifest::Kind::kernel;
  rig.add(kernel);

  const auto leases = rig.decide(0);

  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].job, kernel.id);
}

TEST(Matching, GivesModelsToWorkersThatRunThem) {
  Rig rig;
  rig.add(native_worker(1));
  Job job = known_job(1);
  job.kind = manifest::Kind::onnx;
  rig.add(job);
  EXPECT_TRUE(rig.decide(0).empty()) << "it has no reader of models, as a tab has none";
  Worker able = native_worker(2);
  able.capabilities.features.emplace_back(manifest::onnx_feature);
  rig.add(able);

  const auto leases = rig.decide(0);

  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].worker, able.key);
}

TEST(Matching, CutsTheAxisAsTheManifestDoes) {
  Rig rig;
  rig.add(native_worker(1));
  Job job = known_job(1, 4, 1, 1e-6);
  job.workgroups = 10;
  rig.add(job);

  const auto leases = rig.decide(0);

  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
  for (const auto& task : leases.at(0).tasks) ranges.emplace_back(task.first, task.count);
  EXPECT_EQ(ranges,
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 3}, {3, 3}, {6, 2}, {8, 2}}));
}

TEST(Matching, GivesAPausedWorkerNothingNew) {
  Rig rig;
  rig.add(native_worker(1));
  rig.scheduler.set_slots(key_of(1), 0);
  rig.add(known_job(1));
  EXPECT_TRUE(rig.decide(0).empty());

  rig.scheduler.set_slots(key_of(1), 2);

  EXPECT_EQ(rig.decide(0).size(), 1U);
}

// --- Loss and failure
// --------------------------------------------------------------------------------------------------

TEST(Loss, GivesTheTasksOfALostWorkerToOthersAtOnce) {
  Rig rig;
  rig.add(native_worker(1, 50));
  rig.add(known_job(1, 1));
  rig.decide(0);
  rig.add(native_worker(2));
  ASSERT_TRUE(rig.decide(0).empty());

  rig.scheduler.remove_worker(key_of(1), Departure::lost, at(1));
  const auto leases = rig.decide(1);

  ASSERT_EQ(all<LeaseLost>(rig.last).size(), 1U);
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].worker, key_of(2));
  EXPECT_EQ(leases[0].tasks[0].attempt, 2U);
}

TEST(Loss, TakesASilentWorkerOutAfterThreeBeats) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1, 1, 1, 10));
  rig.decide(0);
  rig.scheduler.heard(key_of(1), at(2));
  rig.decide(3.5);
  EXPECT_TRUE(all<WorkerLost>(rig.last).empty());

  rig.decide(5);

  ASSERT_EQ(all<WorkerLost>(rig.last).size(), 1U);
  EXPECT_EQ(rig.scheduler.views().workers(), 0U);
}

TEST(Loss, LeavesAnIdleWorkerInPeace) {
  Rig rig;
  rig.add(native_worker(1));
  rig.decide(1'000'000);
  EXPECT_EQ(rig.scheduler.views().workers(), 1U);
}

TEST(Loss, ExpiresALeaseWhoseWorkerBeatsButDoesNotFinish) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(known_job(1, 1));
  rig.decide(0);
  for (int second = 1; second < 35; ++second) {
    rig.scheduler.heard(key_of(1), at(second));
    ASSERT_TRUE(rig.decide(second).empty());
    ASSERT_TRUE(all<Cancel>(rig.last).empty()) << second;
  }
  rig.scheduler.heard(key_of(1), at(35));
  rig.decide(35);

  EXPECT_EQ(all<Cancel>(rig.last).size(), 1U);
  EXPECT_EQ(all<LeaseLost>(rig.last).size(), 1U);
}

TEST(Loss, TakesAResultBackWhoseReceiptNeverComes) {
  Rig rig;
  rig.add(native_worker(1));
  rig.add(native_worker(2));
  rig.add(known_job(1, 1));
  const auto first = rig.decide(0);
  ASSERT_TRUE(rig.report(1, 0, 1, 1).has_value());
  for (int second = 1; second <= 6; ++second) rig.scheduler.heard(key_of(1), at(second));

  const auto again = rig.decide(6);

  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].worker, key_of(2));
}

TEST(Loss, NamesItsNextDeadline) {
  Rig rig;
  EXPECT_FALSE(rig.scheduler.next_deadline().has_value());
  rig.add(native_worker(1));
  rig.add(known_job(1, 1));
  rig.decide(0);
  EXPECT_EQ(rig.scheduler.next_deadline(), at(3));
}

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

// --- Quorum
// ------------------------------------------------------------------------------------------------------------

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

// --- Coming back
// -------------------------------------------------------------------------------------------------------

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
