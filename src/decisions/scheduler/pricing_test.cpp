// A price follows from the measurement, and never exceeds the time that passed on the coordinator's
// own clock.
#include "decisions/scheduler/pricing.h"

#include <gtest/gtest.h>

#include <limits>

namespace weft::scheduler {
namespace {

TEST(Pricing, CountsSecondsAtTheReferenceRate) {
  // 10 workgroups in 2 s at half the reference rate: 0.1 reference seconds each.
  const double each = reference_seconds_per_workgroup(
      {.workgroups = 10, .gpu_seconds = 2, .elapsed_seconds = 3, .rate = 0.5});
  EXPECT_DOUBLE_EQ(each, 0.1);

  const Estimate made = estimate({.workgroups = 100, .tasks = 10, .replicas = 2}, each, {});

  EXPECT_DOUBLE_EQ(made.units, 20);
  EXPECT_EQ(made.price, 20'000'000);
  EXPECT_EQ(task_price(made, 10), 2'000'000);
}

TEST(Pricing, BelievesNoClaimAboveTheCoordinatorsClock) {
  EXPECT_DOUBLE_EQ(reference_seconds_per_workgroup(
                       {.workgroups = 1, .gpu_seconds = 1000, .elapsed_seconds = 2, .rate = 1}),
                   2);
  EXPECT_DOUBLE_EQ(reference_seconds_per_workgroup(
                       {.workgroups = 1, .gpu_seconds = 0, .elapsed_seconds = 2, .rate = 1}),
                   2);
  EXPECT_DOUBLE_EQ(
      reference_seconds_per_workgroup({.workgroups = 1,
                                       .gpu_seconds = std::numeric_limits<double>::quiet_NaN(),
                                       .elapsed_seconds = 2,
                                       .rate = 1}),
      2);
}

TEST(Pricing, PaysEachReplicaTheLeastAtLeastAndDividesWithoutARest) {
  const Estimate made = estimate({.workgroups = 64, .tasks = 64, .replicas = 3}, 1e-12, {});

  EXPECT_EQ(made.price, 64 * 3 * 100);
  EXPECT_EQ(task_price(made, 64) % 3, 0);
}

TEST(Pricing, StaysWithinItsIntegersForTheWorstMeasurement) {
  const Estimate made =
      estimate({.workgroups = 4'000'000'000, .tasks = 65'536, .replicas = 7}, 1e300, {});

  EXPECT_GT(made.price, 0);
}

}  // namespace
}  // namespace weft::scheduler
