// Tests that the hour of the week moves a price within its bounds, and only if the week is known.
#include "decisions/scheduler/seasons.h"

#include <gtest/gtest.h>

#include <limits>

namespace weft::scheduler {
namespace {

constexpr UnixMillis hour = 3'600'000;

TEST(Seasons, KnowsNothingAtFirst) { EXPECT_DOUBLE_EQ(Seasons().factor(123 * hour), 1); }

TEST(Seasons, LearnsWhichHoursAreBusy) {
  Seasons seasons;
  // Two weeks: hour 20 of each day is busy, and the other hours are half as busy.
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

TEST(Seasons, SaysWhenAnHourHasEnded) {
  Seasons seasons;
  EXPECT_FALSE(seasons.observe(0, 0.5));
  EXPECT_FALSE(seasons.observe(hour - 1, 0.5));
  EXPECT_TRUE(seasons.observe(hour, 0.5));
  EXPECT_FALSE(seasons.observe(2 * hour, std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace
}  // namespace weft::scheduler
