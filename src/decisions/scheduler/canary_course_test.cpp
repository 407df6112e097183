// Tests of the course of a job's canary: the worker that runs it, the price that it gives, and the
// results by which it ends its job (canaries.h, blame.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "decisions/scheduler/test_rig.h"

namespace weft::scheduler {
namespace {

using enum ErrorCode;

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
                  .has_value());  // 0.2 reference seconds for each of the 10 workgroups.
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
      // Tasks with even and odd indexes take different times.
      rig.finish(job, index, 1, time, index % 2 == 0 ? 4 : 1);
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

  ASSERT_TRUE(rig.report(1, 0, 1, 10, 1).has_value());  // 1 ms a workgroup; 2 ms on the browser.
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

}  // namespace
}  // namespace weft::scheduler
