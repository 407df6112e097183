// Cases for settings of operators that ONNX's own cases do not cover. The expected results are
// worked out by hand from the specification. The processor and the GPU run the same cases.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "engine/onnx/model.h"

namespace weft::onnx::test {

struct EdgeCase {
  std::string name;
  Model model;
  std::vector<Tensor> inputs;
  Tensor expected;
};

template <class T>
Tensor tensor_of(Shape shape, const std::vector<T>& values) {
  return Tensor::of<T>(std::move(shape), values);
}

// Makes a case of one node with the inputs x0, x1, ...; all inputs but x0 are constants.
inline EdgeCase edge(std::string name, std::string op, std::int64_t opset,
                     std::vector<Tensor> inputs, Attributes attributes, Tensor expected) {
  EdgeCase made{
      .name = std::move(name), .model = {}, .inputs = {}, .expected = std::move(expected)};
  made.model.opset = opset;
  made.model.ir_version = 8;
  ModelNode node{.name = "edge",
                 .op = std::move(op),
                 .domain = {},
                 .inputs = {},
                 .outputs = {"y"},
                 .attributes = std::move(attributes)};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string value = "x" + std::to_string(i);
    node.inputs.push_back(value);
    if (i > 0) {
      made.model.initializers.emplace_back(value, inputs[i]);
      continue;
    }
    ValueInfo info{.name = value, .type = inputs[0].type(), .shape = std::vector<Dimension>()};
    for (const std::int64_t size : inputs[0].shape())
      info.shape->push_back({.size = size, .symbol = {}});
    made.model.inputs.push_back(std::move(info));
  }
  made.inputs = {inputs.front()};
  made.model.nodes.push_back(std::move(node));
  made.model.outputs.push_back({.name = "y", .type = made.expected.type(), .shape = std::nullopt});
  return made;
}

inline std::vector<EdgeCase> edge_cases() {
  using I = std::vector<std::int64_t>;
  using F = std::vector<float>;
  const auto f = [](Shape shape, const F& values) {
    return tensor_of<float>(std::move(shape), values);
  };
  const auto i64 = [](Shape shape, const I& values) {
    return tensor_of<std::int64_t>(std::move(shape), values);
  };
  const auto i32 = [](Shape shape, const std::vector<std::int32_t>& values) {
    return tensor_of<std::int32_t>(std::move(shape), values);
  };
  const auto truths = [](Shape shape, const std::vector<int>& values) {
    std::vector<Truth> out;
    for (const int value : values) out.emplace_back(value != 0);
    return tensor_of<Truth>(std::move(shape), out);
  };
  const Tensor none = f({0}, {});
  const F four = {1, 2, 3, 4};
  std::vector<EdgeCase> cases;
  const auto add = [&](auto&&... parts) { cases.push_back(edge(std::move(parts)...)); };

  // The results are log(2 e^1000) and log(e^-1000 + e^-1001). The powers of e are too large or too
  // small for a float.
  add("a sum of large powers", "ReduceLogSumExp", 18,
      std::vector{f({2, 2}, {1000, 1000, -1000, -1001}), i64({1}, {1})},
      Attributes{{"keepdims", std::int64_t{0}}}, f({2}, {1000.6931472F, -999.6867383F}));
  // The specification says: "starts[i] is clamped into [0, dims[axes[i]]-1] for negative stepping".
  add("a backward slice that starts before the first element", "Slice", 13,
      std::vector{f({4}, four), i64({1}, {-100}), i64({1}, {-200}), i64({1}, {0}), i64({1}, {-1})},
      Attributes{}, f({1}, {1}));
  add("a backward slice of everything", "Slice", 13,
      std::vector{f({4}, four), i64({1}, {std::numeric_limits<std::int64_t>::max()}),
                  i64({1}, {std::numeric_limits<std::int64_t>::min()}), i64({1}, {-1}),
                  i64({1}, {-3})},
      Attributes{}, f({2}, {4, 1}));
  add("a backward slice of nothing", "Slice", 13,
      std::vector{f({0, 2}, {}), i64({1}, {5}), i64({1}, {-9}), i64({1}, {0}), i64({1}, {-1})},
      Attributes{}, f({0, 2}, {}));
  // The coordinates are x' = (x + 0.5) / 0.75: 0.67, 2, 3.33.
  add("coordinates of opset 11 for nearest neighbours", "Resize", 11,
      std::vector{f({1, 1, 1, 4}, four), none, f({4}, {1, 1, 1, 0.75F})},
      Attributes{{"coordinate_transformation_mode", std::string("tf_half_pixel_for_nn")},
                 {"nearest_mode", std::string("floor")}},
      f({1, 1, 1, 3}, {1, 3, 4}));
  add("nearest truth values", "Resize", 13,
      std::vector{truths({1, 1, 2, 2}, {1, 0, 0, 1}), none, f({4}, {1, 1, 2, 1})},
      Attributes{{"coordinate_transformation_mode", std::string("asymmetric")},
                 {"nearest_mode", std::string("floor")}},
      truths({1, 1, 4, 2}, {1, 0, 1, 0, 0, 1, 0, 1}));
  // No double has the value 2^53 + 1, so the elements must be copied as integers.
  add("nearest i64", "Resize", 13,
      std::vector{i64({1, 2}, {9007199254740993, -9007199254740993}), none, f({2}, {1, 2})},
      Attributes{{"coordinate_transformation_mode", std::string("asymmetric")},
                 {"nearest_mode", std::string("floor")}},
      i64({1, 4}, {9007199254740993, 9007199254740993, -9007199254740993, -9007199254740993}));
  add("a product of integers with a third operand", "Gemm", 13,
      std::vector{i32({2, 2}, {1, 2, 3, 4}), i32({2, 2}, {5, 6, 7, 8}), i32({2}, {100, 200})},
      Attributes{{"transB", std::int64_t{1}}}, i32({2, 2}, {117, 223, 139, 253}));
  add("a product of i64 with factors", "Gemm", 13,
      std::vector{i64({1, 2}, {3, 5}), i64({2, 1}, {7, 1}), i64({1}, {3})},
      Attributes{{"alpha", 0.5F}, {"beta", 2.0F}}, i64({1, 1}, {19}));
  // The input is two images of one channel with two places. The result is (x - mean) /
  // sqrt(variance) * scale + bias, computed for each place separately.
  add("normalised place by place", "BatchNormalization", 7,
      std::vector{f({2, 1, 2}, {1, 2, 3, 4}), f({1, 2}, {2, 3}), f({1, 2}, {10, 20}),
                  f({1, 2}, {1, 0}), f({1, 2}, {4, 16})},
      Attributes{{"spatial", std::int64_t{0}}, {"epsilon", 0.0F}},
      f({2, 1, 2}, {10, 21.5F, 12, 23}));
  return cases;
}

}  // namespace weft::onnx::test
