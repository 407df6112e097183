// Tests of the shares of one client: the client gets only a part of each total, even if the
// operator has made the total small.
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
  EXPECT_EQ(shares_of({.jobs = 500, .tasks = 8'000}, 250, 8'000), std::pair(250, 8'000));
}

TEST(ClientShares, OneClientHasHalfOfAllJobsWhateverTheOperatorSays) {
  EXPECT_EQ(shares_of({.jobs = 500, .tasks = 8'000}, 251), std::pair(250, 2'000));
  EXPECT_EQ(shares_of({.jobs = 500, .tasks = 8'000}, 5'000), std::pair(250, 2'000));
  EXPECT_EQ(shares_of({.jobs = 1, .tasks = 8'000}, 2), std::pair(1, 2'000));
}

TEST(ClientShares, TheOperatorIsToldWhatIsNotDone) {
  ServeOptions options;
  options.jobs_max = 3;
  options.jobs_per_client = 1;
  EXPECT_EQ(client_shares(options).warning, "");
  options.jobs_per_client = 2;
  EXPECT_EQ(client_shares(options).warning,
            "--jobs-per-client 2 is more than half of --jobs-max 3: one client may run 1 job at a "
            "time, so that there is room for others.");
}

}  // namespace
}  // namespace weft::cli
