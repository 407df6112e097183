// Tests of the plan for a task of many steps that cannot be cut: it is run a few steps at a time,
// the time of compiling does not count, a number of steps that ran out of time is not tried again,
// and a hopeless task ends early.
#include "apps/coordinator/ingest/step_plan.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace weft::coordinator {
namespace {

constexpr StepPlan::Bounds bounds{.run_seconds = 5, .task_seconds = 30};
const Instant start{std::chrono::hours(1)};

// A device on which step i takes seconds_of(i); a process that was just started compiles first.
struct Device {
  std::function<double(std::uint32_t)> seconds_of;
  double compile_seconds = 0;
  Instant now = start;

  bool has_compiled = false;
  std::vector<std::uint32_t> counts = {};  // Number of steps of each run.
  int ran_out = 0;

  void run(StepPlan& plan) {
    while (const auto group = plan.next(now)) {
      double took = has_compiled ? 0 : compile_seconds;
      for (std::uint32_t i = 0; i < group->count; ++i) took += seconds_of(group->first + i);
      counts.push_back(group->count);
      if (took > group->seconds_max) {
        ++ran_out;
        has_compiled = false;
        if (!plan.ran_out(*group, now)) return;
        continue;
      }
      has_compiled = true;
      static_cast<void>(plan.ran(*group, took, took));
    }
  }
};

Device device_of(std::function<double(std::uint32_t)> seconds_of, double compile_seconds = 0) {
  return {.seconds_of = std::move(seconds_of), .compile_seconds = compile_seconds};
}
double half_a_second(std::uint32_t) { return 0.5; }

TEST(StepPlan, ATaskThatTakesLongerThanOneRunIsRunToItsEnd) {
  StepLimit limit;
  StepPlan plan(40, bounds, limit);
  Device device = device_of(half_a_second);

  device.run(plan);

  EXPECT_TRUE(plan.is_done());
  EXPECT_DOUBLE_EQ(plan.seconds(), 20);
  EXPECT_EQ(device.counts, (std::vector<std::uint32_t>{1, 1, 5, 5, 5, 5, 5, 5, 5, 4}));
}

TEST(StepPlan, AShortTaskIsOneRunOnceItsStepsAreKnown) {
  StepLimit limit;
  Device device = device_of([](std::uint32_t) { return 0.05; });
  StepPlan first(40, bounds, limit);
  device.run(first);
  device.counts.clear();

  StepPlan second(40, bounds, limit);
  device.run(second);

  EXPECT_TRUE(second.is_done());
  EXPECT_EQ(device.counts, (std::vector<std::uint32_t>{40}));
}

// The first half of the steps takes nearly all of the task's time.
TEST(StepPlan, TheNextCheckGoesByTheWholeTaskAndNotByItsLastSteps) {
  StepLimit limit;
  Device device = device_of([](std::uint32_t step) { return step < 32 ? 0.16 : 0.001; });
  StepPlan first(64, bounds, limit);
  device.run(first);

  StepPlan second(64, bounds, limit);
  device.run(second);

  EXPECT_TRUE(second.is_done());
  EXPECT_EQ(device.ran_out, 0);
}

TEST(StepPlan, TheRunThatCompilesIsNoMeasure) {
  StepLimit limit;
  StepPlan plan(40, bounds, limit);
  Device device = device_of([](std::uint32_t) { return 0.01; }, 4.5);

  device.run(plan);

  EXPECT_TRUE(plan.is_done());
  EXPECT_NEAR(plan.seconds(), 0.4, 1e-9) << "a price by it would be eleven times as much";
  EXPECT_EQ(device.counts, (std::vector<std::uint32_t>{1, 1, 39})) << "nor is less run at once";
  EXPECT_NEAR(plan.elapsed(), 4.91, 1e-9);
}

// Each newly started process compiles for 4 s, and all steps together take 28 s.
TEST(StepPlan, TimeThatWentIntoCompilingRefusesNothing) {
  StepLimit limit;
  StepPlan plan(56, bounds, limit);
  Device device = device_of(half_a_second, 4);

  device.run(plan);

  EXPECT_TRUE(plan.is_done()) << plan.elapsed();
}

TEST(StepPlan, WhatRanOutOfTimeIsNotTriedAtThatLengthAgain) {
  StepLimit limit;
  Device device = device_of([](std::uint32_t step) { return step % 20 == 19 ? 4.9 : 0.01; });
  StepPlan plan(60, bounds, limit);

  device.run(plan);

  EXPECT_TRUE(plan.is_done());
  EXPECT_EQ(device.ran_out, 1) << "three slow steps, of which the first one was paid for";
  StepPlan again(60, bounds, limit);
  device.run(again);
  EXPECT_TRUE(again.is_done());
  EXPECT_EQ(device.ran_out, 1) << "nor by the next check of the job";
}

TEST(StepPlan, AMachineThatWasBusyIsTriedAgainLater) {
  StepLimit limit;
  limit.ran(0.01);
  StepPlan busy(64, bounds, limit);
  const auto group = busy.next(start);
  ASSERT_EQ(group->count, 64U);
  EXPECT_TRUE(busy.ran_out(*group, start));
  EXPECT_EQ(limit.steps_max(start + StepLimit::ran_out_for - std::chrono::seconds(1)), 8U);

  EXPECT_GE(limit.steps_max(start + StepLimit::ran_out_for), 64U);
}

TEST(StepPlan, AStepThatTakesLongerThanARunEndsTheTask) {
  StepLimit limit;
  StepPlan plan(40, bounds, limit);
  Device device = device_of([](std::uint32_t) { return 6; });

  device.run(plan);

  EXPECT_FALSE(plan.is_done());
  EXPECT_EQ(device.counts, (std::vector<std::uint32_t>{1})) << "it is not run again";
  EXPECT_EQ(plan.elapsed(), 5);
}

TEST(StepPlan, ATaskOfWhichTheRestIsHopelessEndsAfterTwoRuns) {
  StepLimit limit;
  StepPlan hopeless(64, bounds, limit);
  Device device = device_of([](std::uint32_t) { return 1.2; });

  device.run(hopeless);

  EXPECT_FALSE(hopeless.is_done());
  EXPECT_EQ(device.counts, (std::vector<std::uint32_t>{1, 1, 2})) << "the first one compiled";
  EXPECT_DOUBLE_EQ(hopeless.elapsed(), 4.8) << "and not 30 s";
}

// Judged by its first ten steps the task would take 51 s, which is less than twice its limit of 30
// s.
TEST(StepPlan, ATaskThatGetsFasterIsGivenItsTime) {
  StepLimit limit;
  StepPlan plan(64, bounds, limit);
  Device device = device_of([](std::uint32_t step) { return step < 10 ? 0.8 : 0.05; });

  device.run(plan);

  EXPECT_TRUE(plan.is_done());
}

TEST(StepPlan, WhatARunTakesBesideItsWorkIsTheTasksTimeToo) {
  StepLimit limit;
  limit.compiled();
  StepPlan plan(3, bounds, limit);
  const auto group = plan.next(start);
  ASSERT_TRUE(group.has_value());
  EXPECT_TRUE(plan.ran(*group, 0.1, 31));

  EXPECT_FALSE(plan.next(start).has_value());
  EXPECT_FALSE(plan.is_done());
}

TEST(StepPlan, ATaskHasItsTimeAndNoMore) {
  StepLimit limit;
  StepPlan plan(64, bounds, limit);
  Device device = device_of([](std::uint32_t) { return 0.6; });

  device.run(plan);

  EXPECT_FALSE(plan.is_done());
  EXPECT_LE(plan.elapsed(), 30 + 0.6) << "and the step that compiled";
}

}  // namespace
}  // namespace weft::coordinator
