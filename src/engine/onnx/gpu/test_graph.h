// Small models for the tests of this folder.
#pragma once

#include "engine/onnx/model.h"

namespace weft::onnx::test {

inline ValueInfo float_value(std::string name, const std::vector<std::int64_t>& shape) {
  ValueInfo out{
      .name = std::move(name), .type = ElementType::f32, .shape = std::vector<Dimension>()};
  for (const std::int64_t size : shape) out.shape->push_back({.size = size, .symbol = {}});
  return out;
}
inline ModelNode model_node(std::string op, std::vector<std::string> inputs, std::string output,
                            Attributes attributes = {}) {
  return {.name = output,
          .op = std::move(op),
          .domain = {},
          .inputs = std::move(inputs),
          .outputs = {std::move(output)},
          .attributes = std::move(attributes)};
}
// Returns numbers between -1 and 1. Each call returns the same numbers.
inline Tensor numbers(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 50.0f;
  return Tensor::of<float>(std::move(shape), values);
}

}  // namespace weft::onnx::test
