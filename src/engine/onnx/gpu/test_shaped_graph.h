// A graph whose first input has any number of rows and whose second input gives a shape.
#pragma once

#include <array>

#include "engine/onnx/gpu/test_graph.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::onnx::test {

inline Graph shaped_graph() {
  Model model;
  model.opset = 17;
  ValueInfo rows = float_value("x", {1, 8}), result = float_value("y", {1});
  (*rows.shape)[0] = {.size = {}, .symbol = "n"};
  result.shape = std::nullopt;
  const ValueInfo shape{.name = "shape",
                        .type = ElementType::i64,
                        .shape = std::vector<Dimension>{{.size = 2, .symbol = {}}}};
  model.nodes = {model_node("MatMul", {"x", "w"}, "p"), model_node("Reshape", {"p", "shape"}, "r"),
                 model_node("Sigmoid", {"r"}, "y")};
  model.inputs = {rows, shape};
  model.outputs = {result};
  model.initializers = {{"w", numbers({8, 8})}};
  return prepare(std::move(model)).value();
}
inline std::vector<Tensor> shaped_inputs(std::int64_t rows, std::int64_t columns) {
  const std::array<std::int64_t, 2> shape{rows * 8 / columns, columns};
  return {numbers({rows, 8}), Tensor::of<std::int64_t>({2}, shape)};
}

}  // namespace weft::onnx::test
