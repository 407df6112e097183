#include "bindings/onnx_web/answers.h"

#include <variant>

#include <glaze/glaze.hpp>

namespace weft::onnx_web {

// The documents that are written as JSON; their field names are the keys. They are not in the
// unnamed namespace, because glaze reads the names of their members.
using SizeDocument = std::variant<std::int64_t, std::string>;
struct ValueDocument {
  std::string_view name;
  std::optional<std::string_view> type;
  std::optional<std::vector<SizeDocument>> shape;
};
struct OnnxDeviceDocument {
  std::string_view kind;
  std::string_view name;
  std::string_view reason;
};
struct OnnxInfoDocument {
  std::string_view name;
  std::int64_t opset = 0;
  std::uint64_t nodes = 0;
  std::uint64_t weightBytes = 0;
  std::vector<ValueDocument> inputs;
  std::vector<ValueDocument> outputs;
  OnnxDeviceDocument device;
};
struct RunDocument {
  std::vector<ValueDocument> outputs;
  std::uint64_t dispatches = 0;
  std::uint64_t submits = 0;
  std::vector<std::string> processorNodes;
};
struct BoxDocument {
  std::int64_t classId = 0;
  std::string label;
  double score = 0;
  std::array<double, 4> box{};
};

struct FoundDocument {
  std::vector<BoxDocument> boxes;
  std::uint64_t dispatches = 0;
  std::uint64_t submits = 0;
  std::uint64_t bytesDown = 0;
};

namespace {

struct WriteOptions : glz::opts {
  bool escape_control_characters = true;
};

template <class Document>
std::string write(const Document& document) {
  std::string json;
  // Writing cannot fail, because the document holds only strings and finite numbers.
  (void)glz::write<WriteOptions{{glz::opts{.skip_null_members = false}}}>(document, json);
  return json;
}

std::optional<std::vector<SizeDocument>> sizes_of(
    const std::optional<std::vector<onnx::Dimension>>& shape) {
  if (!shape) return std::nullopt;
  std::vector<SizeDocument> sizes;
  for (const onnx::Dimension& dimension : *shape) {
    if (dimension.size)
      sizes.emplace_back(*dimension.size);
    else
      sizes.emplace_back(dimension.symbol.empty() ? "?" : dimension.symbol);
  }
  return sizes;
}

ValueDocument value_of(std::string_view name, const onnx::Tensor& tensor) {
  return {.name = name,
          .type = onnx::to_string(tensor.type()),
          .shape = std::vector<SizeDocument>(tensor.shape().begin(), tensor.shape().end())};
}

std::vector<BoxDocument> box_documents(const std::vector<onnx::Detection>& boxes,
                                       std::int64_t classes) {
  std::vector<BoxDocument> list;
  for (const onnx::Detection& box : boxes)
    list.push_back({.classId = box.class_id,
                    .label = onnx::class_label(box.class_id, classes),
                    .score = box.score,
                    .box = box.box});
  return list;
}

}  // namespace

std::string info_json(const ModelInfo& info) {
  OnnxInfoDocument document{
      .name = info.name,
      .opset = info.graph.opset,
      .nodes = info.graph.nodes.size(),
      .weightBytes = info.weight_bytes,
      .inputs = {},
      .outputs = {},
      .device = {.kind = info.gpu ? "gpu" : "cpu", .name = info.device, .reason = info.no_gpu}};
  for (const onnx::ValueInfo& input : info.graph.inputs)
    document.inputs.push_back(
        {.name = input.name, .type = onnx::to_string(input.type), .shape = sizes_of(input.shape)});
  for (std::size_t i = 0; i < info.graph.outputs.size(); ++i) {
    const std::string& name = info.graph.name(info.graph.outputs[i]);
    document.outputs.push_back(info.outputs[i]
                                   ? value_of(name, *info.outputs[i])
                                   : ValueDocument{.name = name, .type = {}, .shape = {}});
  }
  return write(document);
}

std::string outputs_json(const onnx::Graph& graph, const std::vector<onnx::Tensor>& outputs,
                         const onnx::GpuModel::Statistics* statistics) {
  RunDocument document;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    document.outputs.push_back(value_of(graph.name(graph.outputs[i]), outputs[i]));
  if (statistics != nullptr) {
    document.dispatches = statistics->dispatches;
    document.submits = statistics->submits;
    document.processorNodes = statistics->processor_nodes;
  }
  return write(document);
}

std::string tensor_json(std::string_view name, const onnx::Tensor& tensor) {
  return write(value_of(name, tensor));
}

std::string boxes_json(const std::vector<onnx::Detection>& boxes, std::int64_t classes) {
  return write(box_documents(boxes, classes));
}

std::string found_json(const onnx::GpuDetector::Found& found) {
  return write(FoundDocument{.boxes = box_documents(found.boxes, found.classes),
                             .dispatches = found.dispatches,
                             .submits = found.submits,
                             .bytesDown = found.bytes_down});
}

}  // namespace weft::onnx_web
