#include "decisions/inference/onnx_interface.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "common/base/format.h"
#include "common/json/json.h"
#include "common/json/quote.h"

namespace weft::inference {
namespace {

constexpr std::size_t name_bytes_max = 256;
constexpr std::size_t rank_max = 8;
constexpr std::uint64_t size_max = std::uint64_t{1} << 31;
constexpr std::uint64_t elements_max = std::uint64_t{1} << 31;
constexpr std::uint32_t items_max = 4096;
constexpr std::array<std::string_view, 10> types = {"f32", "f16", "i8",  "u8",  "i16",
                                                    "u16", "i32", "u32", "i64", "bool"};

Result<TensorSize> read_size(const json::Value& value) {
  if (value.kind() == json::Kind::string) {
    WEFT_ASSIGN(std::string symbol, value.string({.bytes_max = name_bytes_max}));
    if (symbol.empty()) return value.error("must not be empty");
    return TensorSize{.symbol = std::move(symbol)};
  }
  WEFT_ASSIGN(const std::uint64_t number, value.unsigned_integer(size_max));
  if (number == 0) return value.error("must be at least 1");
  return TensorSize{.number = number};
}

Result<TensorSpec> read_spec(const json::Value& value) {
  WEFT_ASSIGN(const json::Object object, value.object({"name", "type", "shape"}));
  TensorSpec spec;
  WEFT_ASSIGN(const json::Value name, object.get("name"));
  WEFT_ASSIGN(spec.name, name.string({.bytes_max = name_bytes_max}));
  if (spec.name.empty()) return name.error("must not be empty");
  WEFT_ASSIGN(const json::Value type, object.get("type"));
  WEFT_ASSIGN(spec.type, type.string({.bytes_max = 8}));
  if (!std::ranges::contains(types, spec.type))
    return type.error("\"{}\" is not a type: f32, f16, i8, u8, i16, u16, i32, u32, i64 or bool",
                      spec.type);
  WEFT_ASSIGN(const json::Value shape, object.get("shape"));
  WEFT_ASSIGN(const auto sizes, shape.array({.count_max = rank_max}));
  for (const json::Value& size : sizes) {
    WEFT_ASSIGN(TensorSize read, read_size(size));
    spec.shape.push_back(std::move(read));
  }
  return spec;
}

Result<std::vector<TensorSpec>> read_specs(const json::Value& list) {
  WEFT_ASSIGN(const auto values, list.array({.count_max = onnx_tensors_max}));
  if (values.empty()) return list.error("must not be empty");
  std::vector<TensorSpec> specs;
  for (const json::Value& value : values) {
    WEFT_ASSIGN(TensorSpec spec, read_spec(value));
    if (std::ranges::contains(specs, spec.name, &TensorSpec::name))
      return value.error("\"{}\" occurs twice", spec.name);
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::string specs_json(const std::vector<TensorSpec>& specs) {
  std::string out;
  for (const TensorSpec& spec : specs) {
    std::string shape;
    for (const TensorSize& size : spec.shape)
      shape += (shape.empty() ? "" : ",") +
               (size.number > 0 ? std::to_string(size.number) : json::quote(size.symbol));
    out += weft::format(R"({}{{"name":{},"type":"{}","shape":[{}]}})", out.empty() ? "" : ",",
                        json::quote(spec.name), spec.type, shape);
  }
  return out;
}

using Symbols = std::map<std::string, std::uint64_t>;

// True if the shape matches the spec from dimension `first` on.
bool fits(const TensorSpec& spec, const TensorShape& shape, std::size_t first, Symbols& symbols) {
  if (spec.shape.size() != shape.size()) return false;
  for (std::size_t d = first; d < shape.size(); ++d) {
    const TensorSize& size = spec.shape[d];
    const std::uint64_t wanted =
        size.number > 0 ? size.number : symbols.try_emplace(size.symbol, shape[d]).first->second;
    if (wanted != shape[d]) return false;
  }
  return true;
}

TensorShape shape_of(const TensorSpec& spec, const Symbols& symbols) {
  TensorShape shape;
  for (const TensorSize& size : spec.shape)
    shape.push_back(size.number > 0 ? size.number : symbols.at(size.symbol));
  return shape;
}

bool begins_with_one(const TensorSpec& spec) {
  return !spec.shape.empty() && spec.shape.front().number == 1;
}

Result<> check_elements(const TensorSpec& spec, const TensorShape& shape) {
  std::uint64_t elements = 1;
  for (const std::uint64_t size : shape) {
    if (size > elements_max / elements)
      return fail(ErrorCode::invalid_argument, "'{}' has the shape {}, which is over {} elements.",
                  spec.name, to_string(shape), elements_max);
    elements *= size;
  }
  return {};
}

}  // namespace

bool is_onnx(const ModelCard& card) { return card.architecture == onnx_architecture; }

ModelCard onnx_card() {
  ModelCard card;
  card.architecture = onnx_architecture;
  card.header_bytes = 1;
  card.chunk_bytes = 1 << 20;
  card.layers = card.embedding = card.vocabulary = card.context = 1;
  card.layer_bytes = 1;
  return card;
}

std::string to_json(const OnnxInterface& interface) {
  return weft::format(R"({{"inputs":[{}],"outputs":[{}]}})", specs_json(interface.inputs),
                      specs_json(interface.outputs));
}

Result<OnnxInterface> read_onnx_interface(std::string_view text) {
  WEFT_ASSIGN(const json::Value root, json::parse(text, {.bytes_max = onnx_interface_bytes_max}));
  WEFT_ASSIGN(const json::Object object, root.object({"inputs", "outputs"}));
  OnnxInterface interface;
  WEFT_ASSIGN(const json::Value inputs, object.get("inputs"));
  WEFT_ASSIGN(interface.inputs, read_specs(inputs));
  WEFT_ASSIGN(const json::Value outputs, object.get("outputs"));
  WEFT_ASSIGN(interface.outputs, read_specs(outputs));
  if (interface.inputs.size() + interface.outputs.size() > onnx_tensors_max)
    return root.error("has {} inputs and outputs; at most {} are served",
                      interface.inputs.size() + interface.outputs.size(), onnx_tensors_max);
  std::set<std::string> symbols;
  for (const TensorSpec& spec : interface.inputs) {
    for (const TensorSize& size : spec.shape) symbols.insert(size.symbol);
  }
  for (const TensorSpec& spec : interface.outputs) {
    for (const TensorSize& size : spec.shape) {
      if (size.number == 0 && !symbols.contains(size.symbol))
        return outputs.error("\"{}\" has the size \"{}\", which no input has", spec.name,
                             size.symbol);
    }
  }
  return interface;
}

std::string to_string(const TensorShape& shape) {
  std::string out;
  for (const std::uint64_t size : shape) out += (out.empty() ? "" : ",") + std::to_string(size);
  return "[" + out + "]";
}

std::string to_string(const TensorSpec& expected) {
  std::string out;
  for (const TensorSize& size : expected.shape)
    out += (out.empty() ? "" : ",") + (size.number > 0 ? std::to_string(size.number) : size.symbol);
  return "[" + out + "]";
}

Result<BoundShapes> bind(const OnnxInterface& interface, const std::vector<TensorShape>& given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (std::ranges::contains(given[i], std::uint64_t{0}))
      return fail(ErrorCode::invalid_argument, "The input '{}' has no elements: its shape is {}.",
                  interface.inputs[i].name, to_string(given[i]));
    WEFT_OK(check_elements(interface.inputs[i], given[i]));
  }
  const auto all_fit = [&](std::size_t first, Symbols& symbols, std::size_t& wrong) {
    for (wrong = 0; wrong < given.size(); ++wrong) {
      if (!fits(interface.inputs[wrong], given[wrong], first, symbols)) return false;
    }
    return true;
  };
  Symbols symbols;
  std::size_t wrong = 0;
  BoundShapes out{.inputs = given, .outputs = {}};
  if (!all_fit(0, symbols, wrong)) {
    const std::size_t first_wrong = wrong;
    const bool has_batch = std::ranges::all_of(interface.inputs, begins_with_one) &&
                           std::ranges::all_of(interface.outputs, begins_with_one);
    const std::uint64_t items = given.front().empty() ? 0 : given.front().front();
    Symbols of_items;
    if (!has_batch || !all_fit(1, of_items, wrong) ||
        !std::ranges::all_of(given, [&](const TensorShape& each) { return each[0] == items; }))
      return fail(ErrorCode::invalid_argument,
                  "The input '{}' has the shape {}; the model takes {}{}.",
                  interface.inputs[first_wrong].name, to_string(given[first_wrong]),
                  to_string(interface.inputs[first_wrong]),
                  has_batch ? ", or several of them along the first dimension" : "");
    if (items > items_max)
      return fail(ErrorCode::invalid_argument,
                  "The request has {} items; one request has at most {}.", items, items_max);
    symbols = std::move(of_items);
    out.items = static_cast<std::uint32_t>(items);
    out.stacked = true;
  }
  for (const TensorSpec& spec : interface.outputs) {
    TensorShape shape = shape_of(spec, symbols);
    if (out.stacked) shape.front() = out.items;
    WEFT_OK(check_elements(spec, shape));
    out.outputs.push_back(std::move(shape));
  }
  return out;
}

}  // namespace weft::inference
