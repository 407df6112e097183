// A quote rises with the queue, with what the workers can do and with the hour, each within its
// bounds.
#include "decisions/scheduler/quote.h"

#include <gtest/gtest.h>

#include <limits>

#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

constexpr UnixMillis hour = 3'600'000;

TEST(Quote, IsTheFormula) {
  const Quote idle = quote({}, {.queued_seconds = 0, .seconds_per_second = 4, .workers = 4}, 1);
  EXPECT_DOUBLE_EQ(idle.demand, 0);
  EXPECT_DOUBLE_EQ(idle.capability, 0.5);
  EXPECT_EQ(idle.per_unit, 1'500'000);

  const Quote busy = quote({}, {.queued_seconds = 240, .seconds_per_second = 4, .workers = 4}, 1.2);
  EXPECT_DOUBLE_EQ(busy.demand, 0.5);
  EXPECT_EQ(busy.per_unit, 2'700'000);
}

TEST(Quote, TakesDemandAsFullIfNoWorkerFits) {
  const Quote made = quote({}, {}, 1);
  EXPECT_DOUBLE_EQ(made.demand, 1);
  EXPECT_EQ(made.per_unit, 2'000'000);
}

TEST(Seasons, KnowsNothingAtFirst) { EXPECT_DOUBLE_EQ(Seasons().factor(123 * hour), 1); }

TEST(Seasons, LearnsWhichHoursAreBusy) {
  Seasons seasons;
  // Two weeks: the hour 20 of each day is busy, the others are half so.
  for (std::int64_t i = 0; i <= 2 * 168; ++i) seasons.observe(i * hour, i % 24 == 20 ? 0.8 : 0.4);

  const double mean = (0.8 + 23 * 0.4) / 24;
  EXPECT_NEAR(seasons.factor((3 * 168 + 20) * hour), 0.8 / mean, 1e-9);
  EXPECT_NEAR(seasons.factor((3 * 168 + 5) * hour), 0.4 / mean, 1e-9);
}

TEST(Seasons, StaysWithinItsBounds) {
  Seasons seasons;
  for (std::int64_t i = 0; i <= 168; ++i) seasons.observe(i * hour, i == 7 ? 1 : i == 8 ? 0 : 0.01);
  EXPECT_DOUBLE_EQ(seasons.factor(7 * hour), 2);
  EXPECT_DOUBLE_EQ(seasons.factor(8 * hour), 0.5);
}

TEST(Seasons, SurvivesBeingSavedAndRefusesWhatIsNone) {
  Seasons seasons;
  for (std::int64_t i = 0; i <= 168; ++i) seasons.observe(i * hour, i % 24 == 20 ? 0.8 : 0.4);
  Seasons other;
  other.restore(seasons.save());
  EXPECT_DOUBLE_EQ(other.factor(20 * hour), seasons.factor(20 * hour));

  other.restore(std::vector<double>(168, std::numeric_limits<double>::quiet_NaN()));
  other.restore(std::vector<double>(3, 0.5));
  EXPECT_DOUBLE_EQ(other.factor(20 * hour), seasons.factor(20 * hour));
}

TEST(Market, CountsWhatIsQueuedAndWhoCanDoIt) {
  Scheduler scheduler;
  ASSERT_TRUE(scheduler.add_worker(native_worker(1, 2), at(0)).has_value());
  ASSERT_TRUE(scheduler.add_worker(browser_worker(2, 0.5), at(0)).has_value());
  Job job = known_job(1, 4, 2, 0.1);  // 40 workgroups of 0.1 s, twice.
  ASSERT_TRUE(scheduler.add_job(job, at(0)).has_value());

  EXPECT_NEAR(scheduler.market(job).queued_seconds, 8, 1e-9);
  EXPECT_NEAR(scheduler.market(job).seconds_per_second, 2.5, 1e-9);
  EXPECT_EQ(scheduler.market(job).workers, 2U);

  scheduler.settled({job.id, 0});
  EXPECT_NEAR(scheduler.market(job).queued_seconds, 6, 1e-9);
  Job demanding = known_job(2);
  demanding.requirements.features = {"subgroups"};
  EXPECT_EQ(scheduler.market(demanding).workers, 0U);
  EXPECT_NEAR(scheduler.market(demanding).queued_seconds, 6, 1e-9)
      << "all work competes for the workers";
  scheduler.remove_worker(key_of(1), Departure::left, at(1));
  EXPECT_NEAR(scheduler.market(job).seconds_per_second, 0.5, 1e-9);
  scheduler.remove_job(job.id, "It ended.");
  EXPECT_NEAR(scheduler.market(demanding).queued_seconds, 0, 1e-9);
}

TEST(Market, FixesThePriceThatWasQuoted) {
  Scheduler scheduler;
  ASSERT_TRUE(scheduler.add_worker(native_worker(1), at(0)).has_value());
  Job job = small_job(1, 4);
  job.per_unit = 3'000'000;
  ASSERT_TRUE(scheduler.add_job(job, at(0)).has_value());
  const auto leases = all<Lease>(scheduler.decide(at(0)));
  ASSERT_EQ(leases.size(), 1U);

  ASSERT_TRUE(
      scheduler
          .result({.task = {job.id, 0}, .worker = key_of(1), .attempt = 1, .gpu_seconds = 1}, at(1))
          .has_value());

  const auto estimated = all<Estimated>(scheduler.decide(at(1)));
  ASSERT_EQ(estimated.size(), 1U);
  EXPECT_EQ(estimated[0].estimate.price, 12'000'000) << "4 tasks of a second at three credits";
}

}  // namespace
}  // namespace weft::scheduler
