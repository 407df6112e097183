// Tests that `weft plan` prints the formula's values as valid JSON, and that its simulation agrees
// with the formula in a case in which the formula is exact.
#include "apps/cli/commands/plan.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace weft::cli {
namespace {

std::string printed(const PlanOptions& options, int code) {
  testing::internal::CaptureStdout();
  const int given = plan_command(options);
  std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(given, code);
  return text;
}

double number(const std::string& json, const std::string& key, std::size_t from = 0) {
  const auto at = json.find("\"" + key + "\":", from);
  EXPECT_NE(at, std::string::npos) << key << " in " << json;
  return at == std::string::npos ? 0 : std::strtod(json.c_str() + at + key.size() + 3, nullptr);
}

TEST(Plan, SaysWhatTheFormulaSays) {
  // L is 160 ms: 80 ms, and a megabyte at 100 Mbit/s. C is 0.32 s.
  const std::string json = printed({.workers = {10, 100},
                                    .gflops = 500,
                                    .efficiency = 0.9,
                                    .latency_ms = 80,
                                    .task_mbytes = 1,
                                    .task_gflop = 160,
                                    .tasks = 1000,
                                    .replicas = 2,
                                    .json = true},
                                   0);

  EXPECT_NEAR(number(json, "gflops", json.find("rows")), 10 * 500 * 0.9 / 1.5, 1e-6);
  EXPECT_NEAR(number(json, "gflops", json.find("\"workers\":100")), 100 * 500 * 0.9 / 1.5, 1e-6);
  EXPECT_NEAR(number(json, "job_seconds"), 2 * 1000 * 160 / 3000.0, 1e-6);
  EXPECT_EQ(json.find("simulated"), std::string::npos);
}

TEST(Plan, IsWhatTheSchedulerMakesOfOneTaskAtATime) {
  for (const double efficiency : {1.0, 0.5}) {
    const std::string json = printed({.workers = {16},
                                      .efficiency = efficiency,
                                      .latency_ms = 100,
                                      .task_ms = 200,
                                      .tasks = 1600,
                                      .simulate = true,
                                      .slots = 1,
                                      .spread = 0,
                                      .json = true},
                                     0);
    EXPECT_NEAR(number(json, "difference"), 0, 0.005);
  }
}

TEST(Plan, RefusesWhatCannotBe) {
  EXPECT_EQ(printed({.efficiency = 2}, 2), "");
  EXPECT_EQ(printed({.workers = {1}, .replicas = 2, .simulate = true}, 2), "");
}

}  // namespace
}  // namespace weft::cli
