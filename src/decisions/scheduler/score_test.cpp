// Tests that the score follows its formula, in [0, 1], and that no task waits without end, however
// many jobs of greater worth come.
#include "decisions/scheduler/score.h"

#include <gtest/gtest.h>

#include <cmath>

#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

TEST(Score, WeighsStakeUrgencyAndComplexity) {
  struct Row {
    Worth worth;
    double expected;
  };
  const Row rows[] = {
      {{.stake = 0, .priority = 0, .deadline_s = 0, .workgroups = 1, .replicas = 1}, 0.3 / 32},
      {{.stake = 1'000'000'000, .priority = 0, .deadline_s = 0, .workgroups = 1, .replicas = 1},
       0.4 * 0.5 + 0.3 / 32},
      {{.stake = 0, .priority = 100, .deadline_s = 0, .workgroups = 1, .replicas = 1},
       0.3 + 0.3 / 32},
      {{.stake = 0, .priority = 10, .deadline_s = 60, .workgroups = 1, .replicas = 1},
       0.3 * 0.5 + 0.3 / 32},
      {{.stake = 0, .priority = 60, .deadline_s = 60, .workgroups = 1, .replicas = 1},
       0.3 * 0.6 + 0.3 / 32},
      {{.stake = 0, .priority = 0, .deadline_s = 0, .workgroups = 65'535, .replicas = 1},
       0.3 * 0.5},
      {{.stake = -5, .priority = 0, .deadline_s = 0, .workgroups = 65'535, .replicas = 1},
       0.3 * 0.5},
  };
  for (const Row& row : rows) EXPECT_NEAR(score(row.worth), row.expected, 1e-9);
}

TEST(Score, NeverLeavesItsRange) {
  EXPECT_LE(score({.stake = INT64_MAX,
                   .priority = 1000,
                   .deadline_s = 1e-9,
                   .workgroups = UINT64_MAX,
                   .replicas = 7}),
            1.0);
  EXPECT_GE(
      score(
          {.stake = INT64_MIN, .priority = 0, .deadline_s = 1e300, .workgroups = 0, .replicas = 0}),
      0.0);
}

TEST(Score, LetsTheLeastJobOvertakeTheGreatestThatComesTenMinutesLater) {
  const Worth least{.stake = 0, .priority = 0, .deadline_s = 0, .workgroups = 1, .replicas = 1};
  const Worth greatest{.stake = INT64_MAX,
                       .priority = 100,
                       .deadline_s = 0,
                       .workgroups = UINT64_MAX,
                       .replicas = 7};

  EXPECT_GT(rank_of(least, at(0), 1), rank_of(greatest, at(60), 2));
  EXPECT_LT(rank_of(least, at(0), 1), rank_of(greatest, at(601), 2));
}

TEST(Score, ServesEqualsInTheOrderOfTheirArrival) {
  EXPECT_LT(rank_of({}, at(5), 1), rank_of({}, at(5), 2));
}

}  // namespace
}  // namespace weft::scheduler
