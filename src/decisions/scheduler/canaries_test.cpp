// An urgent job does not wait for its own canary, and no job waits for another job's canary.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "decisions/scheduler/scheduler.h"
#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

class CanariesTest : public testing::Test {
 protected:
  static Settings patient() {
    Settings settings;
    settings.wall_max = std::chrono::minutes(10);
    settings.beat = std::chrono::hours(1);
    settings.leaving_risk_max = 1;
    settings.speculation.enabled = false;
    return settings;
  }
  static Job urgent_job(std::uint64_t number, std::uint32_t tasks,
                        manifest::Kind kind = manifest::Kind::wgsl) {
    Job job = small_job(number, tasks);
    job.priority = 100;
    job.kind = kind;
    return job;
  }
  void add(const Worker& worker, double time = 0) {
    ASSERT_TRUE(scheduler.add_worker(worker, at(time)).has_value());
  }
  void add(const Job& job, double time = 0) {
    ASSERT_TRUE(scheduler.add_job(job, at(time)).has_value());
  }
  std::vector<Lease> decide(double time) {
    last = scheduler.decide(at(time));
    for (const Lease& lease : all<Lease>(last)) {
      for (const auto& task : lease.tasks)
        attempts[{{lease.job, task.index}, lease.worker}] = task.attempt;
    }
    return all<Lease>(last);
  }
  Result<> report(std::uint64_t job, std::uint32_t index, const PublicKey& worker, double time,
                  double gpu_seconds = 1) {
    const TaskId task{job_id_of(job), index};
    return scheduler.result({.task = task,
                             .worker = worker,
                             .attempt = attempts[{task, worker}],
                             .gpu_seconds = gpu_seconds},
                            at(time));
  }

  Scheduler scheduler{patient()};
  std::vector<Decision> last;
  std::map<std::pair<TaskId, PublicKey>, std::uint32_t> attempts;
};

TEST_F(CanariesTest, AnUrgentJobSendsScoutsToIdleNativeWorkersAndNoMoreThanIsAllowed) {
  for (std::uint64_t number = 1; number <= 12; ++number) add(native_worker(number));
  add(browser_worker(20));
  add(urgent_job(1, 30));

  const auto leases = decide(0);

  std::set<PublicKey> taken;
  for (const Lease& lease : leases) {
    EXPECT_EQ(lease.tasks.size(), 1U) << "how long it takes is not known";
    EXPECT_TRUE(lease.canary);
    EXPECT_NE(lease.worker, key_of(20)) << "the shader has run nowhere yet";
    taken.insert(lease.worker);
  }
  EXPECT_EQ(leases.size(), Settings{}.scouts_max + 1);
  EXPECT_EQ(taken.size(), leases.size());
  EXPECT_TRUE(decide(1).empty());
}

TEST_F(CanariesTest, OtherJobsAndShadersThatOnlyBrowsersCouldRunWaitForTheirCanary) {
  add(browser_worker(1));
  add(browser_worker(2));
  add(urgent_job(1, 8));
  EXPECT_EQ(decide(0).size(), 1U);
  Job common = urgent_job(2, 8);
  common.priority = 70;
  add(native_worker(3), 1);
  add(native_worker(4), 1);
  scheduler.remove_job(job_id_of(1), "");
  add(common, 1);
  EXPECT_EQ(decide(1).size(), 1U);

  // This job is a built-in kernel. Unlike a stranger's shader, it may run beside its canary in a
  // browser.
  scheduler.remove_job(job_id_of(2), "");
  add(urgent_job(3, 8, manifest::Kind::kernel), 2);
  EXPECT_EQ(decide(2).size(), 4U);
}

TEST_F(CanariesTest, WhicheverIsDoneFirstPricesTheJobAndTheRestGoes) {
  for (std::uint64_t number = 1; number <= 3; ++number) add(native_worker(number));
  add(urgent_job(1, 9));
  const auto leases = decide(0);
  ASSERT_EQ(leases.size(), 3U);
  const Lease& scout = leases[1];

  ASSERT_TRUE(report(1, scout.tasks[0].index, scout.worker, 5, 5).has_value());
  const auto more = decide(5);

  const auto estimated = all<Estimated>(last);
  ASSERT_EQ(estimated.size(), 1U);
  EXPECT_DOUBLE_EQ(estimated[0].estimate.units, 9 * 5);
  ASSERT_FALSE(more.empty());
  EXPECT_TRUE(std::ranges::none_of(more, &Lease::canary));
  for (const Lease& lease : leases) {
    if (lease.worker == scout.worker) continue;
    EXPECT_TRUE(report(1, lease.tasks[0].index, lease.worker, 6, 6).has_value());
  }
  decide(6);
  EXPECT_TRUE(all<Estimated>(last).empty()) << "a job is priced once";
}

// A much more urgent job may take the places of scouts once their pace, and so their ends, are
// known.
TEST_F(CanariesTest, ScoutsCountAsLongTasksOnceTheirPaceIsKnown) {
  for (std::uint64_t number = 1; number <= 2; ++number) add(native_worker(number));
  Job job = urgent_job(1, 2);
  job.priority = 75;
  add(job);
  const auto leases = decide(0);
  ASSERT_EQ(leases.size(), 2U);
  ASSERT_TRUE(report(1, leases[0].tasks[0].index, leases[0].worker, 100, 100).has_value());
  decide(100);
  add(known_job(2, 1, 1, 50), 100);
  decide(100);
  add(known_job(3, 1, 1, 0.01), 120);
  decide(120);
  const auto waits = scheduler.views().waiting(job_id_of(3), at(120));

  ASSERT_TRUE(waits.has_value());
  EXPECT_EQ(waits->reason, WaitReason::busy);
  EXPECT_TRUE(waits->seconds.has_value());
}

TEST_F(CanariesTest, AScoutThatFailsIsTriedAgainAndOneThatRefusesTheShaderEndsTheJob) {
  add(native_worker(1));
  add(native_worker(2));
  add(urgent_job(1, 6));
  const auto leases = decide(0);
  ASSERT_EQ(leases.size(), 2U);
  const TaskId scout{job_id_of(1), leases[1].tasks[0].index};

  ASSERT_TRUE(
      scheduler.failed(scout, leases[1].worker, 1, {ErrorCode::internal, "It went wrong."}, at(1))
          .has_value());
  const auto again = decide(1);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].worker, leases[1].worker);
  EXPECT_NE(again[0].tasks[0].index, scout.index) << "not on the same worker at once";
  const TaskId other{job_id_of(1), again[0].tasks[0].index};
  ASSERT_TRUE(scheduler
                  .failed(other, again[0].worker, 1,
                          {ErrorCode::invalid_argument, "No such entry point."}, at(2))
                  .has_value());
  decide(2);

  ASSERT_EQ(all<JobFailed>(last).size(), 1U);
  EXPECT_EQ(all<JobFailed>(last)[0].reason.message, "No such entry point.");
}

TEST_F(CanariesTest, ALostCanaryGoesAgainThoughScoutsAreUnderWay) {
  for (std::uint64_t number = 1; number <= 2; ++number) add(native_worker(number));
  add(urgent_job(1, 2));
  const auto leases = decide(0);
  ASSERT_EQ(leases.size(), 2U);
  add(native_worker(3), 1);
  scheduler.remove_worker(leases[0].worker, Departure::left, at(1));

  const auto again = decide(1);

  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].worker, key_of(3));
  EXPECT_EQ(again[0].tasks[0].index, 0U);
}

TEST_F(CanariesTest, WhatIsBehindALongCanaryIsTakenBackAndGoesToTheNextFreeWorker) {
  add(native_worker(1));
  Job canary = small_job(1, 1);
  canary.priority = 0;
  add(canary);
  ASSERT_EQ(decide(0).size(), 1U);
  Job urgent = known_job(2, 1, 1, 0.01);
  urgent.priority = 100;
  add(urgent, 0.1);
  const auto behind = decide(0.1);
  ASSERT_EQ(behind.size(), 1U) << "most canaries are short";
  ASSERT_EQ(scheduler.next_deadline(), at(0.5));

  EXPECT_TRUE(decide(0.5).empty());
  const auto cancelled = all<Cancel>(last);
  ASSERT_EQ(cancelled.size(), 1U);
  ASSERT_EQ(cancelled[0].tasks.size(), 1U);
  EXPECT_EQ(cancelled[0].tasks[0].task.job, job_id_of(2));
  EXPECT_EQ(scheduler.views().load(key_of(1))->held, 1U);
  EXPECT_TRUE(decide(2).empty()) << "and nothing is put there again";

  add(native_worker(2), 3);
  const auto elsewhere = decide(3);
  ASSERT_EQ(elsewhere.size(), 1U);
  EXPECT_EQ(elsewhere[0].job, job_id_of(2));
  EXPECT_EQ(elsewhere[0].worker, key_of(2));
  EXPECT_EQ(elsewhere[0].tasks[0].attempt, 2U);
}

TEST_F(CanariesTest, AWorkerWhoseLongCanaryEndsTakesTasksAgain) {
  add(native_worker(1));
  add(small_job(1, 1));
  ASSERT_EQ(decide(0).size(), 1U);
  decide(0.6);
  add(known_job(2, 2, 1, 0.01), 1);
  ASSERT_TRUE(decide(1).empty());

  ASSERT_TRUE(report(1, 0, key_of(1), 4).has_value());
  EXPECT_EQ(decide(4).size(), 1U);
}

}  // namespace
}  // namespace weft::scheduler
