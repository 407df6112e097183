// A model ready to run: nodes in an order in which they can run, values by number instead of by
// name. Made by operators/prepare.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/onnx/model.h"

namespace weft::onnx {

using ValueId = std::uint32_t;
inline constexpr ValueId no_value = ~ValueId{0};

// A tensor of the graph: computed by a node, given by the caller, or constant.
struct Value {
  std::string name;
  std::optional<Tensor> constant;
};

struct Node {
  std::string name;  // The file's name for it, or "OP_NUMBER" if the file gives none.
  std::string op;
  std::vector<ValueId> inputs;   // no_value: not given.
  std::vector<ValueId> outputs;  // no_value: not asked for.
  Attributes attributes;
};

struct Graph {
  std::int64_t opset = 0;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueInfo> inputs;  // What a caller gives; shapes with symbols or unknown sizes.
  std::vector<ValueId> input_ids;
  std::vector<ValueId> outputs;

  [[nodiscard]] const std::string& name(ValueId id) const { return values[id].name; }
};

}  // namespace weft::onnx
