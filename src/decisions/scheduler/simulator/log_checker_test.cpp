// Tests that the checker finds the faults in logs that are made by hand.
#include "decisions/scheduler/simulator/log_checker.h"

#include <gtest/gtest.h>

namespace weft::scheduler::simulator {
namespace {

Scenario two_jobs(std::uint64_t second_client = 0, std::uint64_t first_memory = 0) {
  Scenario setup;
  setup.workers = {{}};
  setup.jobs = {{.at = 0, .tasks = 2, .task_seconds = 20, .memory_bytes = first_memory},
                {.at = 1, .tasks = 1, .task_seconds = 20, .client = second_client}};
  return setup;
}

Log log_of(std::vector<Start> starts) {
  Log log;
  log.starts = std::move(starts);
  log.jobs = {{.first_start = 5, .at = 60}, {.first_start = 2, .at = 3}};
  return log;
}

TEST(LogChecker, FindsATaskThatWasGivenBeforeOneThatCameFirst) {
  const Log wrong = log_of({{.at = 2, .job = 1, .index = 0, .worker = 0},
                            {.at = 5, .job = 0, .index = 0, .worker = 0},
                            {.at = 5, .job = 0, .index = 1, .worker = 0}});
  const Log right = log_of({{.at = 2, .job = 0, .index = 0, .worker = 0},
                            {.at = 2, .job = 0, .index = 1, .worker = 0},
                            {.at = 5, .job = 1, .index = 0, .worker = 0}});
  EXPECT_EQ(check_log(two_jobs(), wrong).inversions, 1U);
  EXPECT_EQ(check_log(two_jobs(), right).inversions, 0U);
  EXPECT_EQ(check_log(two_jobs(1), wrong).inversions, 0U) << "between clients their shares decide";
  EXPECT_EQ(check_log(two_jobs(0, 1 << 20), wrong).inversions, 0U)
      << "there may have been no room for the first";
}

TEST(LogChecker, CountsWaitsSlowdownsAndJobsThatNeverEnd) {
  Log log = log_of({});
  const Report report = check_log(two_jobs(), log);
  EXPECT_DOUBLE_EQ(report.wait_max, 5);
  EXPECT_DOUBLE_EQ(report.wait_mean, 3);
  EXPECT_DOUBLE_EQ(report.slowdown_max, 3);
  EXPECT_DOUBLE_EQ(report.slowdown_mean, 2);
  log.jobs[1] = {.first_start = -1, .at = 0};
  EXPECT_EQ(check_log(two_jobs(), log).unfinished, 1U);
}

}  // namespace
}  // namespace weft::scheduler::simulator
