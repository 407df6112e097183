// Runs on a GPU the cases that ONNX's own test cases do not cover, with kernels or with nodes on
// the processor between kernels.
#include <gtest/gtest.h>

#include "engine/onnx/gpu/test_gpu.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/operators/test_cases.h"
#include "engine/onnx/operators/test_more_edges.h"

namespace weft::onnx {
namespace {

TEST(GpuEdges, GiveWhatTheSpecificationSays) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  for (const test::EdgeCase& found : test::edge_cases()) {
    auto graph = prepare(found.model);
    ASSERT_TRUE(graph.has_value()) << found.name << ": " << graph.error().message;
    GpuModel compiled(*test::gpu_machine().device, std::move(*graph), {});
    const auto results = test::run_now(compiled, found.inputs);
    ASSERT_TRUE(results.has_value()) << found.name << ": " << results.error().message;
    EXPECT_EQ(test::difference(results->at(0), found.expected), "") << found.name;
  }
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

TEST(GpuEdges, GiveWhatTheSpecificationSaysInRareSettings) {
  ASSERT_NE(test::gpu_machine().device, nullptr) << "no GPU, not even a software one";
  for (const test::EdgeCase& found : test::more_edge_cases()) {
    auto graph = prepare(found.model);
    EXPECT_TRUE(graph.has_value()) << found.name << ": " << graph.error().message;
    if (!graph) continue;
    GpuModel compiled(*test::gpu_machine().device, std::move(*graph), {});
    const auto results = test::run_now(compiled, found.inputs);
    EXPECT_TRUE(results.has_value()) << found.name << ": " << results.error().message;
    if (results) {
      EXPECT_EQ(test::difference(results->at(0), found.expected), "") << found.name;
    }
  }
  EXPECT_TRUE(test::gpu_machine().device->uncaptured_errors().empty());
}

}  // namespace
}  // namespace weft::onnx
