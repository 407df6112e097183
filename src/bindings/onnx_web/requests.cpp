#include "bindings/onnx_web/requests.h"

#include <algorithm>

#include "common/json/json.h"

namespace weft::onnx_web {
namespace {

using onnx::Graph;
using onnx::Shape;
using onnx::Tensor;

// The largest number that JavaScript holds exactly.
constexpr std::uint64_t exact_max = std::uint64_t{1} << 53;

struct Given {
  std::string name;
  std::optional<Shape> shape;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool gpu = false;
};

Result<Given> parse_given(const json::Value& value) {
  Given given;
  WEFT_ASSIGN(const json::Object object, value.object({"name", "shape", "offset", "bytes", "gpu"}));
  WEFT_ASSIGN(const json::Value name, object.get("name"));
  WEFT_ASSIGN(given.name, name.string());
  if (const auto shape = object.find("shape")) {
    given.shape.emplace();
    WEFT_OK(
        shape->for_each({.count_max = onnx::rank_max}, [&](const json::Value& size) -> Result<> {
          WEFT_ASSIGN(const std::int64_t number, size.integer({.min = 0, .max = exact_max}));
          given.shape->push_back(number);
          return {};
        }));
  }
  if (const auto gpu = object.find("gpu")) {
    WEFT_ASSIGN(given.gpu, gpu->boolean());
  }
  if (const auto offset = object.find("offset")) {
    WEFT_ASSIGN(given.offset, offset->unsigned_integer(exact_max));
  }
  if (const auto bytes = object.find("bytes")) {
    WEFT_ASSIGN(given.bytes, bytes->unsigned_integer(exact_max));
  }
  return given;
}

Result<Tensor> tensor_of(const Given& given, const onnx::ValueInfo& input, ByteSpan data) {
  const std::optional<Shape> shape = given.shape ? given.shape : fixed_shape(input);
  if (!shape)
    return fail(ErrorCode::invalid_argument,
                "The model does not give the shape of the input '{}'; the request must give one.",
                input.name);
  if (given.gpu) return Tensor::shape_only(input.type, *shape);
  if (given.offset > data.size() || given.bytes > data.size() - given.offset)
    return fail(ErrorCode::invalid_argument, "The data ends before the bytes of the input '{}'.",
                input.name);
  const ByteSpan bytes = data.subspan(given.offset, given.bytes);
  auto tensor = Tensor::from_bytes(input.type, *shape, ByteVector(bytes.begin(), bytes.end()));
  if (!tensor) return pass(std::move(tensor), "while reading the input '{}'", input.name);
  if (input.type == onnx::ElementType::boolean)
    for (std::uint8_t& byte : tensor->mutable_bytes()) byte = byte != 0 ? 1 : 0;
  return tensor;
}

Result<> read_number(const json::Object& object, std::string_view key, double& out) {
  if (const auto value = object.find(key)) {
    WEFT_ASSIGN(out, value->number());
  }
  return {};
}

}  // namespace

std::optional<Shape> fixed_shape(const onnx::ValueInfo& input) {
  if (!input.shape) return std::nullopt;
  Shape shape;
  for (const onnx::Dimension& dimension : *input.shape) {
    if (!dimension.size) return std::nullopt;
    shape.push_back(*dimension.size);
  }
  return shape;
}

Result<OpenRequest> parse_open(std::string_view text) {
  OpenRequest out;
  WEFT_ASSIGN(const json::Value root, json::parse(text));
  WEFT_ASSIGN(const json::Object object, root.object({"device", "sizes"}));
  if (const auto device = object.find("device")) {
    WEFT_ASSIGN(const std::string word, device->string());
    if (word == "gpu")
      out.device = DeviceChoice::gpu;
    else if (word == "cpu")
      out.device = DeviceChoice::cpu;
    else if (word != "auto")
      return device->error("must be auto, gpu or cpu, not '{}'", word);
  }
  if (const auto sizes = object.find("sizes")) {
    WEFT_ASSIGN(const auto members, sizes->members());
    for (const auto& [name, value] : members) {
      WEFT_ASSIGN(const std::int64_t size, value.integer({.min = 1, .max = 1 << 30}));
      out.sizes.emplace_back(name, size);
    }
  }
  return out;
}

Result<RunRequest> parse_run(std::string_view text, ByteSpan data, const Graph& graph) {
  WEFT_ASSIGN(const json::Value root, json::parse(text));
  WEFT_ASSIGN(const auto list, root.array());
  std::vector<std::optional<Tensor>> tensors(graph.inputs.size());
  RunRequest out{.inputs = {}, .on_gpu = std::vector<bool>(graph.inputs.size())};
  for (const json::Value& value : list) {
    WEFT_ASSIGN(const Given given, parse_given(value));
    const auto input = std::ranges::find(graph.inputs, given.name, &onnx::ValueInfo::name);
    if (input == graph.inputs.end()) return value.error("the model has no input '{}'", given.name);
    const auto place = static_cast<std::size_t>(input - graph.inputs.begin());
    if (tensors[place]) return value.error("the input '{}' is given twice", given.name);
    WEFT_ASSIGN(tensors[place], tensor_of(given, *input, data));
    out.on_gpu[place] = given.gpu;
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i])
      return fail(ErrorCode::invalid_argument, "The input '{}' is missing.", graph.inputs[i].name);
    out.inputs.push_back(std::move(*tensors[i]));
  }
  return out;
}

Result<BoxesRequest> parse_boxes(std::string_view text) {
  BoxesRequest out;
  WEFT_ASSIGN(const json::Value root, json::parse(text));
  WEFT_ASSIGN(const json::Object object,
              root.object({"left", "top", "scaleX", "scaleY", "scoreMin", "overlapMax"}));
  WEFT_OK(read_number(object, "left", out.placement.left));
  WEFT_OK(read_number(object, "top", out.placement.top));
  WEFT_OK(read_number(object, "scaleX", out.placement.scale_x));
  WEFT_OK(read_number(object, "scaleY", out.placement.scale_y));
  WEFT_OK(read_number(object, "scoreMin", out.bounds.score_min));
  WEFT_OK(read_number(object, "overlapMax", out.bounds.overlap_max));
  if (!(out.placement.scale_x > 0) || !(out.placement.scale_y > 0))
    return root.error("scaleX and scaleY must be over 0");
  return out;
}

}  // namespace weft::onnx_web
