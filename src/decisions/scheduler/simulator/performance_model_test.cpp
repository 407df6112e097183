#include "decisions/scheduler/simulator/performance_model.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::scheduler::simulator {
namespace {

TEST(PerformanceModel, IsTheFormula) {
  EXPECT_DOUBLE_EQ(performance({.workers = 10,
                                .gflops = 500,
                                .efficiency = 0.5,
                                .latency_seconds = 1,
                                .compute_seconds = 4})
                       .value(),
                   2000);
  EXPECT_DOUBLE_EQ(performance({.workers = 3, .gflops = 100}).value(), 300);
}

TEST(PerformanceModel, SaysHowLongAJobTakes) {
  // 100 tasks of a second, twice each, on ten workers that wait a second for each task.
  EXPECT_DOUBLE_EQ(
      job_seconds({.workers = 10, .gflops = 500, .latency_seconds = 1, .compute_seconds = 1},
                  {.tasks = 100, .replicas = 2})
          .value(),
      40);
}

TEST(PerformanceModel, RefusesWhatCannotBe) {
  for (const Network& wrong :
       {Network{.workers = 0}, Network{.gflops = -1}, Network{.efficiency = 1.5},
        Network{.efficiency = 0}, Network{.latency_seconds = -1}, Network{.compute_seconds = 0},
        Network{.workers = std::nan("")}}) {
    EXPECT_EQ(performance(wrong).error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace weft::scheduler::simulator
