// One client takes no more than a part of a total that the operator has made small.
#include "apps/cli/commands/client_shares.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace weft::cli {
namespace {

using Given = std::optional<std::uint64_t>;

struct Totals {
  std::uint64_t jobs = 0;
  std::uint64_t tasks = 0;
};
std::pair<std::uint64_t, std::uint64_t> shares_of(const Totals& totals, Given jobs = {},
                                                  Given tasks = {}) {
  ServeOptions options;
  options.jobs_max = totals.jobs;
  options.tasks_max = totals.tasks;
  options.jobs_per_client = jobs;
  options.tasks_per_client = tasks;
  const ClientShares shares = client_shares(options);
  return {shares.jobs, shares.tasks};
}

TEST(ClientShares, FollowSmallTotalsAndAreBoundedInLargeOnes) {
  EXPECT_EQ(shares_of({.jobs = 10'000, .tasks = 2'000'000}), std::pair(1'000, 500'000));
  EXPECT_EQ(shares_of({.jobs = 500, .tasks = 8'000}), std::pair(50, 2'000));
  EXPECT_EQ(shares_of({.jobs = 3, .tasks = 2}), std::pair(1, 1));
  EXPECT_EQ(shares_of({.jobs = 1'000'000, .tasks = 1'000'000'000}), std::pair(1'000, 500'000));
}

TEST(ClientShares, AreWhatTheOperatorSays) {
  EXPECT_EQ(shares_of({.jobs = 500, .tasks = 8'000}, 500, 8'000), std::pair(500, 8'000));
}

}  // namespace
}  // namespace weft::cli
