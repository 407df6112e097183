// Groups of steps cover the steps of a job in order, and only jobs whose steps can be checked one
// by one have groups.
#include "common/manifest/step_groups.h"

#include <gtest/gtest.h>

namespace weft::manifest {
namespace {

Manifest steps_job(std::size_t steps) {
  Manifest manifest;
  manifest.steps.assign(steps, {.entry = "main", .dispatch = {4, 1, 1}});
  Binding input;
  input.role = Role::input;
  Binding output;
  output.binding = 1;
  output.shape = {16};
  manifest.bindings = {input, output};
  return manifest;
}

TEST(StepGroups, AreTheStepsAsFarAsThereAreNoMoreThan32) {
  for (const std::size_t steps : {2U, 3U, 8U, 31U, 32U})
    EXPECT_EQ(step_groups(steps_job(steps)), steps);
  for (const std::size_t steps : {33U, 63U, 64U}) EXPECT_EQ(step_groups(steps_job(steps)), 32U);
}

TEST(StepGroups, CoverTheStepsInOrderWithTheRemainderFirst) {
  for (std::size_t steps = 2; steps <= 64; ++steps) {
    const Manifest manifest = steps_job(steps);
    std::uint32_t next = 0;
    std::uint32_t before = 64;
    for (std::uint32_t group = 0; group < step_groups(manifest); ++group) {
      const StepRange range = steps_of_group(manifest, group);
      ASSERT_EQ(range.first, next) << steps;
      ASSERT_GT(range.count, 0U) << steps;
      ASSERT_LE(range.count, before) << steps;
      before = range.count;
      next += range.count;
    }
    ASSERT_EQ(next, steps);
  }
  EXPECT_EQ(steps_of_group(steps_job(40), 7), (StepRange{.first = 14, .count = 2}));
  EXPECT_EQ(steps_of_group(steps_job(40), 8), (StepRange{.first = 16, .count = 1}));
}

struct Row {
  const char* name;
  void (*change)(Manifest& manifest);
  std::uint32_t groups;
};
class JobsOfEightSteps : public testing::TestWithParam<Row> {};
TEST_P(JobsOfEightSteps, HaveGroupsOnlyIfEachStepCanBeChecked) {
  Manifest manifest = steps_job(8);

  GetParam().change(manifest);

  EXPECT_EQ(step_groups(manifest), GetParam().groups);
}
INSTANTIATE_TEST_SUITE_P(
    Rows, JobsOfEightSteps,
    testing::Values(Row{"AsTheyAre", [](Manifest&) {}, 8},
                    Row{"OneStep", [](Manifest& manifest) { manifest.steps.resize(1); }, 0},
                    Row{"Cut", [](Manifest& manifest) { manifest.bindings[1].split_dim = 0; }, 0},
                    Row{"Tolerance",
                        [](Manifest& manifest) {
                          manifest.verify.compare = {
                              .exact = false, .absolute = 0, .relative = 1e-6};
                        },
                        0},
                    Row{"Kernel", [](Manifest& manifest) { manifest.kind = Kind::kernel; }, 0},
                    Row{"Onnx", [](Manifest& manifest) { manifest.kind = Kind::onnx; }, 0},
                    Row{"SeveralTasksOfWholeOutputs",
                        [](Manifest& manifest) {
                          manifest.split.tasks = 4;
                          manifest.bindings[1].concat = true;
                        },
                        8},
                    Row{"OneTaskWithACutOutputAndAWholeOne",
                        [](Manifest& manifest) {
                          manifest.bindings.push_back(manifest.bindings[1]);
                          manifest.bindings[2].split_dim = 0;
                        },
                        8},
                    Row{"SeveralTasksWithACutOutputAndAWholeOne",
                        [](Manifest& manifest) {
                          manifest.split.tasks = 4;
                          manifest.bindings.push_back(manifest.bindings[1]);
                          manifest.bindings[2].split_dim = 0;
                        },
                        0}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace weft::manifest
