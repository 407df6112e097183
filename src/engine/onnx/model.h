// An ONNX model as plain data, as its file describes it. Names are not resolved.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/onnx/tensor.h"

namespace weft::onnx {

// The value of an attribute whose kind is not read: a graph, a type or a sparse tensor. It keeps
// only the name of the kind.
struct UnreadableAttribute {
  std::string kind;
};
using Attribute =
    std::variant<float, std::int64_t, std::string, Tensor, std::vector<float>,
                 std::vector<std::int64_t>, std::vector<std::string>, UnreadableAttribute>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

struct ModelNode {
  std::string name;  // The name of the node; may be empty.
  std::string op;
  std::string domain;
  std::vector<std::string> inputs;   // An empty name: the input is not given.
  std::vector<std::string> outputs;  // An empty name: the output is not asked for.
  Attributes attributes;
};

// A size in the shape of an input or output: a number, a symbol ("batch"), or unknown (neither).
struct Dimension {
  std::optional<std::int64_t> size;
  std::string symbol;
};

struct ValueInfo {
  std::string name;
  ElementType type = ElementType::f32;
  std::optional<std::vector<Dimension>> shape;  // nullopt allows any rank.
};

struct Model {
  std::int64_t ir_version = 0;
  std::int64_t opset = 0;  // The version of the operators of the domain ai.onnx.
  std::string producer;
  std::string graph_name;
  std::vector<ModelNode> nodes;
  std::vector<std::pair<std::string, Tensor>> initializers;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
};

}  // namespace weft::onnx
