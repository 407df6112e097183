// Tests that no client or worker can move a quote for nothing, and that a worker gets no job below
// its price.
#include <gtest/gtest.h>

#include <limits>

#include "decisions/scheduler/price_floors.h"
#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

constexpr std::uint64_t stranger = 10'000;

class MarketTest : public testing::Test {
 protected:
  void join(std::uint64_t number, Standing standing, double tflops = 1, MicroCredits floor = 0) {
    Worker worker = native_worker(number, tflops);
    worker.standing = standing;
    worker.price_min = floor;
    ASSERT_TRUE(scheduler.add_worker(worker, at(0)).has_value());
  }
  // A job of `tasks` tasks of a second. The tests make sure that none of its tasks can be leased:
  // its price is below every floor, or there is no room.
  Job waiting_job(std::uint64_t number, std::uint32_t tasks) { return known_job(number, tasks); }
  [[nodiscard]] MicroCredits per_unit(const Job& job, double time) {
    return quote({}, scheduler.views().market(job, at(time)), 1).per_unit;
  }
  void keep_alive(double time, std::uint64_t workers) {
    for (std::uint64_t i = 1; i <= workers; ++i) scheduler.heard(key_of(i), at(time));
  }

  Scheduler scheduler;
};

TEST_F(MarketTest, DemandCountsWorkThatHasWaitedForTenSeconds) {
  join(1, Standing::invited);
  scheduler.set_leases_max(key_of(1), 0);
  ASSERT_TRUE(scheduler.add_job(waiting_job(1, 60), at(0)).has_value());
  (void)scheduler.decide(at(0));

  EXPECT_EQ(per_unit(small_job(9), 9), 1'000'000);
  EXPECT_NEAR(static_cast<double>(per_unit(small_job(9), 11)), 1'500'000, 1)
      << "a minute of work for the fleet";
  scheduler.remove_job(job_id_of(1), "It ended.");
  EXPECT_EQ(per_unit(small_job(9), 13), 1'000'000);
}

TEST_F(MarketTest, WorkThatIsPaidWithGrantedCreditsRaisesNoPrice) {
  join(1, Standing::invited);
  scheduler.set_leases_max(key_of(1), 0);
  Job job = waiting_job(1, 1000);
  job.paid_share = 0;
  ASSERT_TRUE(scheduler.add_job(job, at(0)).has_value());
  EXPECT_EQ(per_unit(small_job(9), 11), 1'000'000);
}

TEST_F(MarketTest, WorkBelowThePriceOfEveryTrustedWorkerRaisesNoPrice) {
  join(1, Standing::invited, 1, 2'000'000);
  join(stranger, Standing::newcomer);
  scheduler.set_leases_max(key_of(stranger), 0);
  Job job = waiting_job(1, 60);
  job.per_unit = 1'000'000;
  ASSERT_TRUE(scheduler.add_job(job, at(0)).has_value());
  (void)scheduler.decide(at(0));
  EXPECT_EQ(per_unit(small_job(9), 11), 1'000'000);

  join(2, Standing::invited);
  scheduler.set_leases_max(key_of(2), 0);
  (void)scheduler.decide(at(12));

  EXPECT_GT(per_unit(small_job(9), 13), 1'000'000) << "that one accepts it";
}

// A client pays nothing for work that no worker runs and that it cancels later, so such work must
// hardly raise prices.
TEST_F(MarketTest, WorkThatCannotRunOrOnlyOnFewWorkersRaisesPricesByLittle) {
  for (std::uint64_t i = 1; i <= 100; ++i) join(i, Standing::invited);
  Job job = waiting_job(1, 100'000);
  job.requirements.features = {"what-no-worker-has"};
  ASSERT_TRUE(scheduler.add_job(job, at(0)).has_value());
  EXPECT_EQ(per_unit(small_job(9), 11), 1'000'000);

  Worker rare = native_worker(101, 1);
  rare.capabilities.features = {"rare"};
  rare.slots = 1;
  ASSERT_TRUE(scheduler.add_worker(rare, at(0)).has_value());
  job = waiting_job(2, 100'000);
  job.requirements.features = {"rare"};
  ASSERT_TRUE(scheduler.add_job(job, at(0)).has_value());
  EXPECT_LE(per_unit(small_job(9), 13), 1'100'000);
}

TEST_F(MarketTest, AJobThatFewWorkersCanRunCostsMore) {
  join(1, Standing::invited, 3);
  Worker rare = native_worker(2, 1);
  rare.capabilities.features = {"rare"};
  ASSERT_TRUE(scheduler.add_worker(rare, at(0)).has_value());
  Job job = small_job(9);
  EXPECT_EQ(per_unit(job, 0), 1'000'000);
  job.requirements.features = {"rare"};
  EXPECT_EQ(per_unit(job, 0), 1'750'000);
  ASSERT_TRUE(scheduler.add_job(job, at(0)).has_value());
  EXPECT_EQ(per_unit(job, 0), 1'750'000) << "the same with a class";
}

// A thousand strangers do not change the quote, whatever they claim (finding H-2 of a review).
TEST_F(MarketTest, AThousandStrangersMoveNoQuote) {
  for (std::uint64_t i = 1; i <= 10; ++i) join(i, Standing::established);
  for (std::uint64_t i = 1; i <= 10; ++i) scheduler.set_leases_max(key_of(i), 0);
  ASSERT_TRUE(scheduler.add_job(waiting_job(1, 30), at(0)).has_value());
  Job rare = small_job(9);
  rare.requirements.features = {"rare"};
  const MicroCredits before = per_unit(small_job(9), 11);
  const MicroCredits rare_before = per_unit(rare, 11);
  ASSERT_GT(before, 1'000'000);

  for (std::uint64_t i = 0; i < 1000; ++i) {
    Worker worker = native_worker(stranger + i, i % 2 == 0 ? 1e6 : 1e-3);
    worker.standing = Standing::newcomer;
    worker.price_min = i % 3 == 0 ? std::numeric_limits<MicroCredits>::max() / 2 : 0;
    if (i % 2 == 0) worker.capabilities.features = {"rare"};
    ASSERT_TRUE(scheduler.add_worker(worker, at(0)).has_value());
  }
  EXPECT_EQ(per_unit(small_job(9), 13), before);
  EXPECT_EQ(per_unit(rare, 13), rare_before);
  EXPECT_EQ(scheduler.views().busy(), 0) << "strangers are not the fleet";
}

TEST_F(MarketTest, AWorkerGetsNoJobBelowItsPrice) {
  join(1, Standing::invited, 1, 2'000'000);
  Job job = small_job(1);
  job.per_unit = 1'999'999;
  ASSERT_TRUE(scheduler.add_job(job, at(0)).has_value());

  EXPECT_TRUE(scheduler.decide(at(0)).empty());
  const auto waiting = scheduler.views().waiting(job.id, at(0));
  ASSERT_TRUE(waiting.has_value());
  EXPECT_EQ(waiting->reason, WaitReason::price);
  EXPECT_EQ(sentence(*waiting),
            "None of 1 worker that can run the job accepts its price of 1.999999 credits a unit; "
            "the lowest accepted price is 2.000000.");
  EXPECT_EQ(scheduler.views().able_count(job.id), 0U);

  job = small_job(2);
  job.per_unit = 2'100'000;
  ASSERT_TRUE(scheduler.add_job(job, at(0)).has_value());
  const auto leases = all<Lease>(scheduler.decide(at(0)));
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].job, job.id);
}

// A worker's floor keeps only this worker from the job.
TEST_F(MarketTest, AJobBelowEveryTrustedWorkersPriceIsTheNewcomers) {
  join(1, Standing::established, 1, 5'000'000);
  join(stranger, Standing::newcomer);
  ASSERT_TRUE(scheduler.add_job(small_job(1, 40), at(0)).has_value());
  const auto decisions = scheduler.decide(at(0));
  EXPECT_EQ(all<CanaryWanted>(decisions).size(), 1U) << "the operator's device measures it";
  scheduler.checks().canary_measured(
      job_id_of(1), {.workgroups = 10, .gpu_seconds = 0.01, .elapsed_seconds = 0.01, .rate = 1},
      at(1));
  const auto leases = all<Lease>(scheduler.decide(at(1)));
  ASSERT_FALSE(leases.empty());
  for (const Lease& lease : leases) EXPECT_EQ(lease.worker, key_of(stranger));
}

TEST_F(MarketTest, WithTheLastTrustedWorkerThatAcceptsItsPriceAJobIsMeasuredByTheOperatorsDevice) {
  join(1, Standing::established, 1, 5'000'000);
  join(2, Standing::established);
  scheduler.set_leases_max(key_of(2), 0);
  join(stranger, Standing::newcomer);
  ASSERT_TRUE(scheduler.add_job(small_job(1), at(0)).has_value());
  EXPECT_TRUE(all<CanaryWanted>(scheduler.decide(at(0))).empty());

  scheduler.remove_worker(key_of(2), Departure::left, at(1));

  EXPECT_EQ(all<CanaryWanted>(scheduler.decide(at(1))).size(), 1U);
}

TEST_F(MarketTest, MeasurementsThatPriceAJobAreTold) {
  join(1, Standing::established);
  ASSERT_TRUE(scheduler.add_job(small_job(1), at(0)).has_value());
  ASSERT_EQ(all<Lease>(scheduler.decide(at(0))).size(), 1U);
  ASSERT_TRUE(
      scheduler.result({.task = {job_id_of(1), 0}, .worker = key_of(1), .attempt = 1}, at(1))
          .has_value());
  const auto measured = all<Measured>(scheduler.decide(at(1)));
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_EQ(measured[0].by, key_of(1));
  EXPECT_FALSE(measured[0].alone);
  EXPECT_GT(measured[0].seconds_per_workgroup, 0);
}

TEST(PriceFloors, CountThoseThatAcceptAPriceInFewSteps) {
  PriceFloors floors;
  floors.add(0, 1);
  floors.add(5, 1);
  floors.add(5, 1);
  EXPECT_EQ(floors.within(4), 1U);
  EXPECT_EQ(floors.within(5), 3U);
  floors.add(0, -1);
  EXPECT_EQ(floors.least(), 5);
  floors.add(5, -2);
  EXPECT_EQ(floors.least(), std::nullopt);

  for (MicroCredits floor = 1; floor < 1'000'000'000'000; floor = floor * 5 / 4 + 1) {
    const MicroCredits step = PriceFloors::step(floor);
    EXPECT_GE(step, floor);
    EXPECT_LE(static_cast<double>(step), static_cast<double>(floor) * 1.1);
    EXPECT_EQ(PriceFloors::step(step), step);
  }
  EXPECT_EQ(PriceFloors::step(-3), 0);
}

}  // namespace
}  // namespace weft::scheduler
