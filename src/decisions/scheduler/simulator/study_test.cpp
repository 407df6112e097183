// Measures the figures of the scheduler's performance that docs/performance.md quotes. Each test
// prints its table and checks it against a bound.
//
//   build/release/tests/scheduler_simulator_test --gtest_filter='Study.*'
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "decisions/scheduler/simulator/baselines.h"
#include "decisions/scheduler/simulator/log_checker.h"
#include "decisions/scheduler/simulator/performance_model.h"

namespace weft::scheduler::simulator {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

Log run(const Scenario& setup) {
  auto log = simulate(setup);
  EXPECT_TRUE(log.has_value()) << log.error().message;
  return log ? std::move(*log) : Log{};
}

// The ratio of the simulated to the modelled tasks a second, minus one.
double model_error(std::uint32_t workers, double latency, std::uint32_t slots, double spread,
                   std::uint32_t tasks_each) {
  Scenario setup;
  setup.workers.assign(workers, {.rate = 1, .slots = slots});
  setup.jobs = {{.at = 0, .tasks = workers * tasks_each, .task_seconds = 0.2}};
  setup.latency_seconds = latency;
  setup.spread = spread;
  const Log log = run(setup);
  const double model = performance({.workers = static_cast<double>(workers),
                                    .gflops = 1,
                                    .latency_seconds = latency,
                                    .compute_seconds = 0.2})
                           .value();
  return log.useful_seconds / log.seconds / model - 1;
}

TEST(Study, ThePerformanceModelIsExactForOneTaskAtATimeAndCautiousOtherwise) {
  std::printf("\nL/C   workers  one slot  uneven  two slots  uneven  short job\n");
  for (const double ratio : {0.0, 0.1, 0.5, 1.0}) {
    for (const std::uint32_t workers : {1U, 16U, 256U}) {
      const double latency = 0.2 * ratio;
      const double one = model_error(workers, latency, 1, 0, 50);
      const double one_uneven = model_error(workers, latency, 1, 0.5, 50);
      const double two = model_error(workers, latency, 2, 0, 50);
      const double two_uneven = model_error(workers, latency, 2, 0.5, 50);
      const double brief = model_error(workers, latency, 2, 0.5, 3);
      std::printf("%4.1f  %7u  %+7.1f%%  %+5.1f%%  %+8.1f%%  %+5.1f%%  %+8.1f%%\n", ratio, workers,
                  one * 100, one_uneven * 100, two * 100, two_uneven * 100, brief * 100);
      EXPECT_NEAR(one, 0, 0.005);
      EXPECT_NEAR(one_uneven, 0, 0.12);
      EXPECT_NEAR(two, ratio, 0.05) << "the next task is fetched meanwhile: latency is hidden";
    }
  }
}

// A load that nearly fills eight shared workers: mostly small tasks, some that need half a worker,
// and a few that need a whole one.
Scenario mixed_load(std::uint64_t seed, bool priorities) {
  Scenario setup;
  setup.seed = seed;
  setup.settings.speculation.enabled = false;
  setup.workers.assign(
      8, {.rate = 1, .slots = 4, .sharing = Sharing::sliced, .memory_bytes = 16 * gib});
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  double time = 0;
  for (int i = 0; i < 3000; ++i) {
    const double kind = uniform(random);
    SimulatedJob job{.at = time,
                     .tasks = 1,
                     // A task takes from 1 to 20 s.
                     .task_seconds = std::round(10 * std::exp(uniform(random) * 3)) / 10};
    job.memory_bytes = kind < 0.85 ? (1 + random() % 3) * gib : kind < 0.97 ? 8 * gib : 16 * gib;
    if (priorities) job.priority = static_cast<std::uint32_t>(random() % 101);
    setup.jobs.push_back(job);
    time += -std::log(1 - uniform(random)) * 1.05;
  }
  return setup;
}

TEST(Study, SlowsNoTaskDownMoreThanPlainEasyAndFarLessThanFifo) {
  std::printf("\nseed  scheduler      slowdown mean      max   wait mean       max  inversions\n");
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Scenario setup = mixed_load(seed, false);
    const Report fifo = check_log(setup, run_baseline(Baseline::fifo, setup).value());
    const Report easy = check_log(setup, run_baseline(Baseline::easy, setup).value());
    const Report ours = check_log(setup, run(setup));
    const Scenario urgent = mixed_load(seed, true);
    const Report ranked = check_log(urgent, run(urgent));
    const auto print = [&](const char* name, const Report& report) {
      std::printf("%4d  %-12s  %13.2f  %7.1f  %8.1f s  %6.0f s  %10d\n", static_cast<int>(seed),
                  name, report.slowdown_mean, report.slowdown_max, report.wait_mean,
                  report.wait_max, static_cast<int>(report.inversions));
    };
    print("FIFO", fifo);
    print("EASY", easy);
    print("ours", ours);
    print("ours, ranked", ranked);

    EXPECT_EQ(ours.unfinished, 0U);
    EXPECT_EQ(ranked.unfinished, 0U);
    EXPECT_EQ(ours.inversions, 0U);
    EXPECT_EQ(ranked.inversions, 0U);
    EXPECT_LE(ours.slowdown_mean, fifo.slowdown_mean);
    EXPECT_LE(ours.slowdown_mean, 1.25 * easy.slowdown_mean);
    EXPECT_LE(ours.wait_max, 1.5 * easy.wait_max + 60);
    // The greatest difference of priorities is 0.3 of a score, which is three minutes of age.
    EXPECT_LE(ranked.wait_max, ours.wait_max + 2 * 180) << "a job starves";
  }
}

TEST(Study, StarvesNoClientHoweverMuchAnotherSubmits) {
  Scenario setup;
  setup.settings.speculation.enabled = false;
  setup.workers.assign(16, {.rate = 1, .slots = 1});
  // One client has an hour of work for all workers at once. Nine other clients submit a small job
  // every minute.
  setup.jobs.push_back({.at = 0, .tasks = 16 * 3600 / 5, .task_seconds = 5, .client = 0});
  for (int minute = 1; minute < 60; ++minute) {
    for (std::uint64_t client = 1; client < 10; ++client)
      setup.jobs.push_back({.at = 60.0 * minute, .tasks = 8, .task_seconds = 1, .client = client});
  }
  const Log log = run(setup);
  double wait_max = 0;
  double wait_mean = 0;
  for (std::size_t i = 1; i < setup.jobs.size(); ++i) {
    wait_max = std::max(wait_max, log.jobs[i].first_start - setup.jobs[i].at);
    wait_mean +=
        (log.jobs[i].first_start - setup.jobs[i].at) / static_cast<double>(setup.jobs.size() - 1);
  }
  std::printf(
      "\nsmall jobs beside a flood: wait mean %.1f s, max %.1f s; the flood ends after %.0f s of "
      "%.0f s of work\n",
      wait_mean, wait_max, log.jobs[0].at, log.useful_seconds / 16);
  EXPECT_LT(wait_max, 60);
  EXPECT_EQ(check_log(setup, log).unfinished, 0U);
  EXPECT_NEAR(log.jobs[0].at, log.useful_seconds / 16, 60) << "and the workers are not idle";
}

TEST(Study, CopiesCutTheTailOfAJobWithStallingRuns) {
  double with = 0;
  double without = 0;
  std::uint64_t extra = 0;
  std::uint64_t tasks = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Scenario setup;
    setup.seed = seed;
    setup.workers.assign(64, {.rate = 1, .slots = 1});
    setup.jobs = {{.at = 0, .tasks = 640, .task_seconds = 1}};
    setup.latency_seconds = 0.05;
    setup.stalls = 0.01;
    const Log copied = run(setup);
    with += copied.seconds / 10;
    extra += copied.starts.size() - 640;
    tasks += 640;
    setup.settings.speculation.enabled = false;
    without += run(setup).seconds / 10;
  }
  std::printf(
      "\n640 tasks of 1 s on 64 workers, 1 %% of runs stall twentyfold: %.1f s with copies, %.1f s "
      "without; %.2f %% more runs\n",
      with, without, 100.0 * static_cast<double>(extra) / static_cast<double>(tasks));
  EXPECT_LT(with, 0.7 * without);
  EXPECT_LT(extra, tasks / 50);
}

TEST(Study, BatchesHideTheWayThereAndBack) {
  std::printf(
      "\n20,000 tasks of 5 ms, 16 workers 50 ms away\nslots  task/s  of the workers' 3,200  tasks "
      "a lease message\n");
  double before = 0;
  for (const std::uint32_t slots : {1U, 2U, 16U, 64U}) {
    Scenario setup;
    setup.workers.assign(16, {.rate = 1, .slots = slots});
    setup.jobs = {{.at = 0, .tasks = 20'000, .task_seconds = 0.005}};
    setup.latency_seconds = 0.05;
    const Log log = run(setup);
    const double rate = 20'000 / log.seconds;
    std::printf("%5u  %6.0f  %20.0f%%  %21.1f\n", slots, rate, rate / 32,
                20'000.0 / static_cast<double>(log.lease_messages));
    EXPECT_GT(rate, before);
    before = rate;
  }
  EXPECT_GT(before, 0.9 * 3200);
}

}  // namespace
}  // namespace weft::scheduler::simulator
