// Measures the gain and the cost of making way, with urgent tasks among long ones that fill every
// worker. Prints a table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "decisions/scheduler/simulator/simulator.h"

namespace weft::scheduler::simulator {
namespace {

struct Outcome {
  double waits = 0;       // The mean wait of urgent jobs in seconds.
  double waits_most = 0;  // The longest wait of an urgent job.
  double repeated = 0;    // The share of the work that was done again.
  double seconds = 0;     // Seconds until all jobs were done.
  std::uint64_t made_way = 0;
};

Outcome outcome(std::uint64_t seed, std::chrono::milliseconds checkpoint_min,
                std::uint32_t replicas) {
  Scenario setup;
  setup.seed = seed;
  setup.latency_seconds = 0.05;
  setup.settings.checkpoint_min = checkpoint_min;
  setup.settings.speculation.enabled = false;
  setup.workers.assign(std::size_t{4} * replicas, {.rate = 1, .slots = 2});
  std::mt19937_64 random(seed);
  // Long jobs use six tenths of the network's capacity.
  std::exponential_distribution<double> long_gap(1 / 60.0);
  std::exponential_distribution<double> urgent_gap(1 / 30.0);
  for (double at = long_gap(random); at < 7200; at += long_gap(random)) {
    setup.jobs.push_back({.at = at,
                          .tasks = 1,
                          .task_seconds = 150,
                          .replicas = replicas,
                          .priority = 0,
                          .client = 1});
  }
  for (double at = 60 + urgent_gap(random); at < 7200; at += urgent_gap(random)) {
    setup.jobs.push_back({.at = at, .tasks = 1, .task_seconds = 2, .priority = 100, .client = 1});
  }
  std::ranges::sort(setup.jobs, {}, &SimulatedJob::at);
  const auto log = simulate(setup);
  EXPECT_TRUE(log.has_value()) << log.error().message;
  if (!log) return {};
  double useful = 0;
  for (const SimulatedJob& job : setup.jobs) useful += job.tasks * job.task_seconds * job.replicas;
  Outcome made{.waits = 0,
               .waits_most = 0,
               .repeated = log->computed_seconds / useful - 1,
               .seconds = log->seconds,
               .made_way = log->made_way};
  const auto urgent =
      static_cast<double>(std::ranges::count(setup.jobs, 100U, &SimulatedJob::priority));
  for (std::size_t i = 0; i < setup.jobs.size(); ++i) {
    if (setup.jobs[i].priority == 0) continue;
    const double wait = log->jobs[i].first_start - setup.jobs[i].at;
    made.waits += wait / urgent;
    made.waits_most = std::max(made.waits_most, wait);
  }
  return made;
}

TEST(MakingWay, UrgentTasksWaitForACheckpointAndLittleIsDoneTwice) {
  std::printf(
      "\nseed  replicas  checkpoints  urgent waits, mean  most  done again  made way  all done\n");
  for (const auto& [seed, replicas] : {std::pair(1U, 1U), std::pair(2U, 1U), std::pair(3U, 1U),
                                       std::pair(1U, 2U), std::pair(2U, 3U)}) {
    const Outcome without = outcome(seed, std::chrono::milliseconds(0), replicas);
    const Outcome with = outcome(seed, std::chrono::milliseconds(1000), replicas);
    for (const auto& [what, each] : {std::pair("no", without), std::pair("5 %", with)}) {
      std::printf("%4u  %8u  %11s  %16.1f s  %4.0f s  %8.2f %%  %8llu  %6.0f s\n", seed, replicas,
                  what, each.waits, each.waits_most, each.repeated * 100,
                  static_cast<unsigned long long>(each.made_way), each.seconds);
    }
    EXPECT_LT(with.waits, without.waits / 3);
    EXPECT_LT(with.repeated, 0.05);
    EXPECT_NEAR(without.repeated, 0, 1e-6);
    EXPECT_LT(with.seconds, without.seconds * 1.1);
  }
}

}  // namespace
}  // namespace weft::scheduler::simulator
