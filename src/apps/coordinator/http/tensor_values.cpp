#include "apps/coordinator/http/tensor_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "common/base/byte_reader.h"
#include "common/base/check.h"
#include "common/base/format.h"

namespace weft::coordinator {
namespace {

using manifest::ElementType;

constexpr std::array<TensorType, 10> types = {{
    {"f32", "FP32", "DT_FLOAT", 4, ElementType::f32},
    {"f16", "FP16", "DT_HALF", 2, ElementType::f16},
    {"i8", "INT8", "DT_INT8", 1, ElementType::i8},
    {"u8", "UINT8", "DT_UINT8", 1, ElementType::u32},
    {"i16", "INT16", "DT_INT16", 2, ElementType::i32},
    {"u16", "UINT16", "DT_UINT16", 2, ElementType::u32},
    {"i32", "INT32", "DT_INT32", 4, ElementType::i32},
    {"u32", "UINT32", "DT_UINT32", 4, ElementType::u32},
    {"i64", "INT64", "DT_INT64", 8, ElementType::i32},
    {"bool", "BOOL", "DT_BOOL", 1, ElementType::u32},
}};
constexpr std::size_t rank_max = 8;

bool is_signed(const TensorType& type) { return type.name.starts_with('i'); }

// Appends the lowest `bytes` bytes of `bits`, little-endian.
void append_number(ByteVector& out, std::uint64_t bits, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
}

// The integer element at `at`, sign-extended if its type is signed.
std::int64_t integer_at(ByteSpan bytes, std::size_t at, const TensorType& type) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < type.bytes; ++i) bits |= std::uint64_t{bytes[at + i]} << (8 * i);
  const std::size_t unused = 64 - 8 * type.bytes;
  if (!is_signed(type)) return static_cast<std::int64_t>(bits);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

Result<> read_element(const json::Value& value, const TensorType& type, ByteVector& out) {
  if (type.name == "bool") {
    WEFT_ASSIGN(const bool truth, value.boolean());
    out.push_back(truth ? 1 : 0);
    return {};
  }
  if (type.name == "f32") {
    WEFT_ASSIGN(const double number, value.number());
    if (std::abs(number) > std::numeric_limits<float>::max())
      return value.error("is no FP32: its magnitude is too large");
    append_number(out, std::bit_cast<std::uint32_t>(static_cast<float>(number)), 4);
    return {};
  }
  const unsigned bits = static_cast<unsigned>(8 * type.bytes);
  const std::int64_t most = is_signed(type)
                                ? std::numeric_limits<std::int64_t>::max() >> (64 - bits)
                                : static_cast<std::int64_t>((std::uint64_t{1} << bits) - 1);
  WEFT_ASSIGN(const std::int64_t number,
              value.integer({.min = is_signed(type) ? -most - 1 : 0, .max = most}));
  append_number(out, static_cast<std::uint64_t>(number), type.bytes);
  return {};
}

struct Reading {
  const TensorType& type;
  const TensorShape& shape;
  ByteVector& out;
};

Result<> read_nested(const json::Value& value, const Reading& reading, std::size_t depth) {
  if (depth == reading.shape.size()) return read_element(value, reading.type, reading.out);
  std::uint64_t count = 0;
  WEFT_OK(
      value.for_each({.count_max = reading.shape[depth]}, [&](const json::Value& each) -> Result<> {
        ++count;
        return read_nested(each, reading, depth + 1);
      }));
  if (count != reading.shape[depth])
    return value.error("has {} elements; the shape {} asks for {}", count,
                       inference::to_string(reading.shape), reading.shape[depth]);
  return {};
}

// The first element of a list; empty if the list is empty.
Result<std::vector<json::Value>> first_of(const json::Value& list) {
  std::vector<json::Value> first;
  const auto walked = list.for_each({.count_max = std::numeric_limits<std::size_t>::max()},
                                    [&](const json::Value& each) -> Result<> {
                                      if (first.empty()) first.push_back(each);
                                      return {};
                                    });
  WEFT_OK(walked);
  return first;
}

Result<> write_element(ByteSpan bytes, std::size_t at, const TensorType& type,
                       std::string_view what, std::string& out) {
  if (type.name == "bool") {
    out += bytes[at] != 0 ? "true" : "false";
    return {};
  }
  if (type.name != "f32") {
    out += std::to_string(integer_at(bytes, at, type));
    return {};
  }
  const auto number = std::bit_cast<float>(read_le<std::uint32_t>(bytes, at));
  if (!std::isfinite(number))
    return fail(ErrorCode::invalid_argument,
                "'{}' has the value {}, which JSON cannot say: ask for it as bytes "
                "(\"binary_data\": true).",
                what, number);
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  check(error == std::errc(), "a float has at most 16 characters");
  out.append(text.data(), end);
  return {};
}

struct Writing {
  ByteSpan bytes;
  const TensorType& type;
  const TensorShape& shape;
  std::string_view what;
};

Result<> write_nested(const Writing& writing, std::size_t depth, std::size_t& at,
                      std::string& out) {
  if (depth == writing.shape.size()) {
    WEFT_OK(write_element(writing.bytes, at, writing.type, writing.what, out));
    at += writing.type.bytes;
    return {};
  }
  out += '[';
  for (std::uint64_t i = 0; i < writing.shape[depth]; ++i) {
    if (i > 0) out += ',';
    WEFT_OK(write_nested(writing, depth + 1, at, out));
  }
  out += ']';
  return {};
}

}  // namespace

const TensorType& tensor_type(std::string_view name) {
  const auto found = std::ranges::find(types, name, &TensorType::name);
  check(found != types.end(), "an interface has known types only");
  return *found;
}

std::uint64_t element_count(const TensorShape& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : shape) count *= size;
  return count;
}

Result<ByteVector> read_values(const json::Value& value, const TensorType& type,
                               const TensorShape& shape) {
  if (type.name == "f16")
    return value.error(
        "is a tensor of the type FP16, which has no JSON: send it as bytes "
        "(\"binary_data_size\")");
  ByteVector out;
  // Every element takes at least two characters of the text, so the text bounds the memory.
  out.reserve(std::min<std::uint64_t>(element_count(shape), value.text().size()) * type.bytes);
  bool is_flat = shape.size() != 1 && value.kind() == json::Kind::array;
  if (is_flat) {
    WEFT_ASSIGN(const auto first, first_of(value));
    is_flat = first.empty() || first.front().kind() != json::Kind::array;
  }
  const TensorShape all = {element_count(shape)};
  WEFT_OK(read_nested(value, {.type = type, .shape = is_flat ? all : shape, .out = out}, 0));
  return out;
}

Result<TensorShape> shape_of_values(const json::Value& value) {
  TensorShape shape;
  std::vector<json::Value> at = {value};
  while (!at.empty() && at.front().kind() == json::Kind::array) {
    if (shape.size() == rank_max)
      return value.error("has more than {} lists within each other", rank_max);
    std::uint64_t count = 0;
    std::vector<json::Value> first;
    WEFT_OK(at.front().for_each({.count_max = std::numeric_limits<std::size_t>::max()},
                                [&](const json::Value& each) -> Result<> {
                                  if (count++ == 0) first.push_back(each);
                                  return {};
                                }));
    shape.push_back(count);
    at = std::move(first);
  }
  return shape;
}

Result<std::string> write_values(ByteSpan bytes, const TensorType& type, const TensorShape& shape,
                                 Nesting nesting, std::string_view what) {
  if (type.name == "f16")
    return fail(ErrorCode::invalid_argument,
                "'{}' is of the type FP16, which has no JSON: ask for it as bytes "
                "(\"binary_data\": true).",
                what);
  const TensorShape all = {element_count(shape)};
  std::string out;
  std::size_t at = 0;
  WEFT_OK(write_nested(
      {.bytes = bytes, .type = type, .shape = nesting == Nesting::flat ? all : shape, .what = what},
      0, at, out));
  return out;
}

Result<ByteVector> to_job(ByteVector bytes, const TensorType& type, std::string_view what) {
  if (manifest::bytes_per_element(type.job) == type.bytes) return bytes;
  ByteVector out;
  out.reserve(bytes.size() / type.bytes * sizeof(std::uint32_t));
  for (std::size_t at = 0; at < bytes.size(); at += type.bytes) {
    std::int64_t value = integer_at(bytes, at, type);
    if (type.name == "bool") value = value == 0 ? 0 : 1;
    if (value < std::numeric_limits<std::int32_t>::min() ||
        value > std::numeric_limits<std::int32_t>::max())
      return fail(ErrorCode::invalid_argument,
                  "The input '{}' has the value {}: values of INT64 must fit into 32 bits.", what,
                  value);
    append_number(out, static_cast<std::uint64_t>(value), sizeof(std::uint32_t));
  }
  return out;
}

ByteVector from_job(ByteVector bytes, const TensorType& type) {
  if (manifest::bytes_per_element(type.job) == type.bytes) return bytes;
  ByteVector out;
  out.reserve(bytes.size() / sizeof(std::uint32_t) * type.bytes);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint32_t)) {
    const auto value = static_cast<std::int32_t>(read_le<std::uint32_t>(bytes, at));
    append_number(out, static_cast<std::uint64_t>(std::int64_t{value}), type.bytes);
  }
  return out;
}

}  // namespace weft::coordinator
