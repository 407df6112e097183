#include "apps/cli/commands/inspect.h"

#include <cmath>
#include <cstdio>

#include "apps/cli/exit_code.h"
#include "apps/cli/model_file.h"
#include "common/base/format.h"
#include "common/base/utf8.h"
#include "common/base/visible_text.h"
#include "common/json/quote.h"

namespace weft::cli {
namespace {

using gguf::Array;
using gguf::ValueType;

// Formats a number as JSON; infinities and NaN, which JSON lacks, are quoted.
template <class Number>
std::string number_text(Number value) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return weft::format("\"{}\"", value);
  }
  return weft::format("{}", value);
}

std::string element_text(const Array& array, std::size_t i);

// Formats at most `count_max` elements; a longer array ends with "...", which is not JSON.
std::string array_text(const Array& array, std::size_t count_max) {
  std::string out = "[";
  for (std::size_t i = 0; i < std::min(array.count, count_max); ++i)
    out.append(i == 0 ? "" : ", ").append(element_text(array, i));
  return out.append(array.count > count_max ? ", ...]" : "]");
}

std::string element_text(const Array& array, std::size_t i) {
  switch (array.element_type) {
    case ValueType::string:
      return json::quote(array.strings[i]);
    case ValueType::array:
      return array_text(array.arrays[i], array.arrays[i].count);
    case ValueType::boolean:
      return array.scalar<std::uint8_t>(i) != 0 ? "true" : "false";
    case ValueType::float32:
      return number_text(array.scalar<float>(i));
    case ValueType::float64:
      return number_text(array.scalar<double>(i));
    case ValueType::uint64:
      return number_text(array.scalar<std::uint64_t>(i));
    default:
      return number_text(array.integer(i).value_or(0));
  }
}

std::string value_text(const gguf::Value& value, std::size_t count_max) {
  return std::visit(
      [&](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::string>) {
          return json::quote(held);
        } else if constexpr (std::is_same_v<Held, Array>) {
          return array_text(held, count_max);
        } else if constexpr (std::is_same_v<Held, bool>) {
          return held ? "true" : "false";
        } else {
          return number_text(held);
        }
      },
      value);
}

std::string type_text(const gguf::Value& value) {
  if (const auto* array = std::get_if<Array>(&value))
    return weft::format("{}[{}]", to_string(array->element_type), array->count);
  return std::string(to_string(gguf::type_of(value)));
}

std::string shape_text(const gguf::Tensor& tensor) {
  std::string out = "[";
  for (std::uint32_t i = 0; i < tensor.dimension_count; ++i)
    out.append(i == 0 ? "" : ", ").append(std::to_string(tensor.dimensions[i]));
  return out + "]";
}

std::string as_json(const std::string& path, const gguf::File& file) {
  std::string out = weft::format(
      R"({{"file":{},"format":"gguf","version":{},"alignment":{},"data_offset":{},"file_bytes":{},"metadata":{{)",
      json::quote(path), file.version, file.alignment, file.data_offset, file.file_bytes);
  bool first = true;
  for (const auto& [key, value] : file.metadata.entries()) {
    out += weft::format("{}{}:{}", first ? "" : ",", json::quote(key),
                        value_text(value, ~std::size_t{0}));
    first = false;
  }
  out += R"(},"tensors":[)";
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    const gguf::Tensor& tensor = file.tensors[i];
    out += weft::format(R"({}{{"name":{},"type":"{}","shape":{},"offset":{},"bytes":{}}})",
                        i == 0 ? "" : ",", json::quote(tensor.name), to_string(tensor.type),
                        shape_text(tensor), tensor.offset, tensor.bytes);
  }
  return out + "]}\n";
}

std::string as_text(const std::string& path, const gguf::File& file) {
  std::string out = weft::format("{}: GGUF version {}, {} bytes\n\nmetadata ({})\n", path,
                                 file.version, file.file_bytes, file.metadata.entries().size());
  constexpr std::size_t elements_shown = 8, bytes_shown = 120;
  for (const auto& [key, value] : file.metadata.entries()) {
    std::string text = value_text(value, elements_shown);
    if (text.size() > bytes_shown) text = std::string(utf8::clip(text, bytes_shown)) + "...";
    out += weft::format("  {:<44} {:<14} {}\n", visible_text(key), type_text(value), text);
  }
  std::uint64_t elements = 0, bytes = 0;
  for (const gguf::Tensor& tensor : file.tensors) {
    elements += tensor.elements();
    bytes += tensor.bytes;
  }
  out += weft::format("\ntensors ({}; {} elements in {} bytes)\n", file.tensors.size(), elements,
                      bytes);
  for (const gguf::Tensor& tensor : file.tensors)
    out += weft::format("  {:<44} {:<8} {:<24} {:>12} bytes at {}\n", visible_text(tensor.name),
                        to_string(tensor.type), shape_text(tensor), tensor.bytes, tensor.offset);
  return out;
}

}  // namespace

int inspect_command(const InspectOptions& options) {
  if (options.file.ends_with(".onnx"))
    return report("inspect",
                  {ErrorCode::unsupported,
                   weft::format("'{}' is an ONNX file: see weft onnx inspect.", options.file)});
  const auto model = open_model(options.file);
  if (!model) return report("inspect", model.error());
  const std::string text =
      options.json ? as_json(options.file, model->header) : as_text(options.file, model->header);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace weft::cli
