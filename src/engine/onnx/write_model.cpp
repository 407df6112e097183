#include "engine/onnx/write_model.h"

#include <algorithm>

#include <protozero/pbf_writer.hpp>

#include "engine/onnx/read_model.h"

namespace weft::onnx {
namespace {

using protozero::pbf_writer;
constexpr std::size_t model_bytes_max = std::size_t{1} << 31;
// The file format version that supports opset 19 and later.
constexpr std::int64_t ir_version_least = 8;

// The values of AttributeProto.type.
enum class AttributeType : std::int32_t {
  number = 1,
  integer = 2,
  text = 3,
  tensor = 4,
  numbers = 6,
  integers = 7,
  texts = 8,
};

struct AttributeWriter {
  pbf_writer& out;
  void type(AttributeType kind) const { out.add_enum(20, static_cast<std::int32_t>(kind)); }
  bool operator()(float value) const {
    out.add_float(2, value);
    type(AttributeType::number);
    return true;
  }
  bool operator()(std::int64_t value) const {
    out.add_int64(3, value);
    type(AttributeType::integer);
    return true;
  }
  bool operator()(const std::string& value) const {
    out.add_bytes(4, value);
    type(AttributeType::text);
    return true;
  }
  bool operator()(const Tensor& value) const {
    const ByteVector bytes = write_tensor({}, value);
    out.add_message(5, reinterpret_cast<const char*>(bytes.data()), bytes.size());
    type(AttributeType::tensor);
    return true;
  }
  bool operator()(const std::vector<float>& values) const {
    out.add_packed_float(7, values.begin(), values.end());
    type(AttributeType::numbers);
    return true;
  }
  bool operator()(const std::vector<std::int64_t>& values) const {
    out.add_packed_int64(8, values.begin(), values.end());
    type(AttributeType::integers);
    return true;
  }
  bool operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) out.add_bytes(9, value);
    type(AttributeType::texts);
    return true;
  }
  bool operator()(const UnreadableAttribute&) const { return false; }
};

Result<> write_node(pbf_writer& graph, const ModelNode& node) {
  pbf_writer out(graph, 1);
  for (const std::string& input : node.inputs) out.add_string(1, input);
  for (const std::string& output : node.outputs) out.add_string(2, output);
  out.add_string(3, node.name);
  out.add_string(4, node.op);
  for (const auto& [name, attribute] : node.attributes) {
    pbf_writer entry(out, 5);
    entry.add_string(1, name);
    if (!std::visit(AttributeWriter{entry}, attribute))
      return fail(
          ErrorCode::unsupported,
          "Node '{}' ({}): the attribute '{}' cannot be written: it holds a graph or a type.",
          node.name, node.op, name);
  }
  if (!node.domain.empty()) out.add_string(7, node.domain);
  return {};
}

void write_value(pbf_writer& graph, protozero::pbf_tag_type tag, const ValueInfo& value) {
  pbf_writer out(graph, tag);
  out.add_string(1, value.name);
  pbf_writer type(out, 2);
  pbf_writer tensor(type, 1);
  tensor.add_int32(1, static_cast<std::int32_t>(value.type));
  if (!value.shape) return;
  pbf_writer shape(tensor, 2);
  for (const Dimension& dimension : *value.shape) {
    pbf_writer entry(shape, 1);
    if (dimension.size)
      entry.add_int64(1, *dimension.size);
    else if (!dimension.symbol.empty())
      entry.add_string(2, dimension.symbol);
  }
}

ValueInfo info_of(const std::string& name, const std::optional<Tensor>& about) {
  ValueInfo out{.name = name, .type = ElementType::f32, .shape = std::nullopt};
  if (!about) return out;
  out.type = about->type();
  out.shape.emplace();
  for (const std::int64_t size : about->shape()) out.shape->push_back({.size = size, .symbol = {}});
  return out;
}

}  // namespace

Result<ByteVector> write_model(const Model& model) {
  std::string bytes;
  pbf_writer out(bytes);
  out.add_int64(1, std::max(model.ir_version, ir_version_least));
  out.add_string(2, model.producer);
  {
    pbf_writer graph(out, 7);
    for (const ModelNode& node : model.nodes) WEFT_OK(write_node(graph, node));
    graph.add_string(2, model.graph_name.empty() ? "graph" : model.graph_name);
    for (const auto& [name, tensor] : model.initializers) {
      if (bytes.size() + tensor.byte_count() >= model_bytes_max)
        return fail(ErrorCode::resource_exhausted,
                    "The model takes more than the 2 GiB that a protobuf file can hold.");
      const ByteVector initializer = write_tensor(name, tensor);
      graph.add_message(5, reinterpret_cast<const char*>(initializer.data()), initializer.size());
    }
    for (const ValueInfo& input : model.inputs) write_value(graph, 11, input);
    for (const ValueInfo& output : model.outputs) write_value(graph, 12, output);
  }
  {
    pbf_writer opset(out, 8);
    opset.add_string(1, "");
    opset.add_int64(2, model.opset);
  }
  return ByteVector(bytes.begin(), bytes.end());
}

Model model_of(const Graph& graph, std::span<const ValueId> outputs,
               std::span<const std::optional<Tensor>> shapes) {
  Model model;
  model.opset = graph.opset;
  model.producer = "weft";
  const auto name = [&](ValueId id) { return id == no_value ? std::string() : graph.name(id); };
  std::vector<bool> used(graph.values.size());
  for (const Node& node : graph.nodes) {
    ModelNode made{.name = node.name,
                   .op = node.op,
                   .domain = {},
                   .inputs = {},
                   .outputs = {},
                   .attributes = node.attributes};
    for (const ValueId id : node.inputs) {
      made.inputs.push_back(name(id));
      if (id != no_value) used[id] = true;
    }
    for (const ValueId id : node.outputs) made.outputs.push_back(name(id));
    model.nodes.push_back(std::move(made));
  }
  for (const ValueId id : outputs) used[id] = true;
  for (ValueId id = 0; id < graph.values.size(); ++id)
    if (used[id] && graph.values[id].constant)
      model.initializers.emplace_back(graph.name(id), *graph.values[id].constant);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    model.inputs.push_back(shapes[graph.input_ids[i]]
                               ? info_of(graph.inputs[i].name, shapes[graph.input_ids[i]])
                               : graph.inputs[i]);
  for (const ValueId id : outputs) model.outputs.push_back(info_of(graph.name(id), shapes[id]));
  return model;
}

}  // namespace weft::onnx
