// Runs on the processor the cases that ONNX's own test cases do not cover.
#include <gtest/gtest.h>

#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/operators/test_cases.h"
#include "engine/onnx/operators/test_more_edges.h"

namespace weft::onnx {
namespace {

TEST(Edges, GiveWhatTheSpecificationSays) {
  for (const test::EdgeCase& found : test::edge_cases()) {
    auto graph = prepare(found.model);
    ASSERT_TRUE(graph.has_value()) << found.name << ": " << graph.error().message;
    const auto results = interpret(*graph, found.inputs);
    ASSERT_TRUE(results.has_value()) << found.name << ": " << results.error().message;
    EXPECT_EQ(test::difference(results->at(0), found.expected), "") << found.name;
  }
}

TEST(Edges, GiveWhatTheSpecificationSaysInRareSettings) {
  for (const test::EdgeCase& found : test::more_edge_cases()) {
    auto graph = prepare(found.model);
    EXPECT_TRUE(graph.has_value()) << found.name << ": " << graph.error().message;
    if (!graph) continue;
    const auto results = interpret(*graph, found.inputs);
    EXPECT_TRUE(results.has_value()) << found.name << ": " << results.error().message;
    if (results) {
      EXPECT_EQ(test::difference(results->at(0), found.expected), "") << found.name;
    }
  }
}

}  // namespace
}  // namespace weft::onnx
