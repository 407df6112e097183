// Models for the tests of this folder whose outputs are their input in another shape, so that a
// test sets the outputs of the detector directly.
#pragma once

#include "engine/onnx/gpu/test_graph.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::onnx::test {

inline constexpr std::int64_t detector_side = 96;

inline std::pair<std::string, Tensor> list(std::string name, std::vector<std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {std::move(name), Tensor::of<std::int64_t>({count}, values)};
}

// Reshapes [1][3][96][96] to [1][4608][6] and multiplies every element by 1.
inline Graph objectness_detector() {
  Model model;
  model.opset = 17;
  const float one = 1;
  model.initializers = {list("rows", {1, detector_side * detector_side / 2, 6}),
                        {"one", Tensor::of<float>({}, std::span(&one, 1))}};
  model.nodes = {model_node("Mul", {"x", "one"}, "m"), model_node("Reshape", {"m", "rows"}, "y")};
  model.inputs = {float_value("x", {1, 3, detector_side, detector_side})};
  model.outputs = {float_value("y", {1, detector_side * detector_side / 2, 6})};
  return prepare(std::move(model)).value();
}

// Gives the rows of objectness_detector() cut into two outputs: two classes and four corners.
inline Graph corner_detector() {
  Model model;
  model.opset = 17;
  const std::int64_t rows = detector_side * detector_side / 2;
  model.initializers = {list("rows", {1, rows, 6}), list("zero", {0}), list("two", {2}),
                        list("six", {6}), list("last", {2})};
  model.nodes = {model_node("Reshape", {"x", "rows"}, "r"),
                 model_node("Slice", {"r", "zero", "two", "last"}, "s"),
                 model_node("Slice", {"r", "two", "six", "last"}, "b")};
  model.inputs = {float_value("x", {1, 3, detector_side, detector_side})};
  model.outputs = {float_value("s", {1, rows, 2}), float_value("b", {1, rows, 4})};
  return prepare(std::move(model)).value();
}

}  // namespace weft::onnx::test
