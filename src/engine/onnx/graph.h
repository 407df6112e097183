// A model that is ready to run: its nodes are in an order in which they can run, and its values
// have numbers instead of names. prepare() of operators/prepare.h makes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/onnx/model.h"

namespace weft::onnx {

using ValueId = std::uint32_t;
inline constexpr ValueId no_value = ~ValueId{0};

// A tensor of the graph. It is computed by a node, given by the caller, or constant.
struct Value {
  std::string name;
  std::optional<Tensor> constant;
};

struct Node {
  std::string name;  // The name in the file, or "OP_NUMBER" if it has none.
  std::string op;
  std::vector<ValueId> inputs;   // no_value: the input is not given.
  std::vector<ValueId> outputs;  // no_value: the output is not asked for.
  Attributes attributes;
};

struct Graph {
  std::int64_t opset = 0;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueInfo> inputs;  // Given by the caller; sizes may be symbols or unknown.
  std::vector<ValueId> input_ids;
  std::vector<ValueId> outputs;

  [[nodiscard]] const std::string& name(ValueId id) const { return values[id].name; }
};

}  // namespace weft::onnx
