// Tests that jobs that no connected worker fits end after a day, and that no other job does.
#include <gtest/gtest.h>

#include "decisions/scheduler/scheduler.h"
#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

constexpr double hour_s = 3600;

class UnfitTest : public testing::Test {
 protected:
  static Settings settings() {
    Settings out;
    out.beat = std::chrono::hours(1000);
    return out;
  }
  static Job wants_f16(std::uint64_t number) {
    Job job = known_job(number, 2);
    job.requirements.features = {"shader-f16"};
    return job;
  }
  void add(Scheduler& to, const Job& job, double time) {
    ASSERT_TRUE(to.add_job(job, at(time)).has_value());
  }
  // The reasons of the jobs that end up to `until`. As in the coordinator, decide() is called at
  // each deadline.
  static std::vector<Error> ends(Scheduler& of, double until) {
    std::vector<Error> out;
    for (auto next = of.next_deadline(); next && *next <= at(until); next = of.next_deadline()) {
      for (const JobFailed& each : all<JobFailed>(of.decide(*next))) out.push_back(each.reason);
    }
    return out;
  }

  Scheduler scheduler{settings()};
};

TEST_F(UnfitTest, AJobThatNoWorkerFitsEndsAfterADay) {
  ASSERT_TRUE(scheduler.add_worker(native_worker(1), at(0)).has_value());
  add(scheduler, wants_f16(1), 0);
  (void)scheduler.decide(at(0));
  EXPECT_TRUE(ends(scheduler, 24 * hour_s - 1).empty());
  const auto ended = ends(scheduler, 24 * hour_s);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].code, ErrorCode::unavailable);
  EXPECT_EQ(ended[0].message,
            "For 24 hours no worker had what the job requires; 0 of 2 tasks were accepted.");
}

TEST_F(UnfitTest, WithoutTheBoundItStaysForEver) {
  Settings off = settings();
  off.unfit_max = std::chrono::hours(24 * 3650);
  Scheduler forever{off};
  add(forever, wants_f16(1), 0);
  (void)forever.decide(at(0));
  EXPECT_TRUE(ends(forever, 1000 * hour_s).empty());
}

TEST_F(UnfitTest, TheDayCountsFromTheTimeAtWhichTheLastWorkerThatFitsLeft) {
  Worker able = native_worker(1);
  able.slots = 1;
  able.capabilities.features = {"shader-f16"};
  ASSERT_TRUE(scheduler.add_worker(able, at(0)).has_value());
  Job long_one = wants_f16(1);
  add(scheduler, long_one, 0);
  add(scheduler, wants_f16(2), 0);
  ASSERT_FALSE(scheduler.decide(at(0)).empty());
  scheduler.remove_worker(key_of(1), Departure::left, at(30 * hour_s));
  EXPECT_TRUE(ends(scheduler, 54 * hour_s - 1).empty());
  EXPECT_EQ(ends(scheduler, 54 * hour_s).size(), 2u);
}

TEST_F(UnfitTest, AJobThatWaitsForABusyWorkerDoesNotEnd) {
  Settings patient = settings();
  patient.wall_max = std::chrono::hours(500);
  Scheduler busy{patient};
  Worker one = native_worker(1);
  one.slots = 1;
  ASSERT_TRUE(busy.add_worker(one, at(0)).has_value());
  add(busy, known_job(1, 1), 0);
  ASSERT_EQ(all<Lease>(busy.decide(at(0))).size(), 1u);
  add(busy, known_job(2, 1), 0);
  EXPECT_TRUE(ends(busy, 100 * hour_s).empty());
}

}  // namespace
}  // namespace weft::scheduler
