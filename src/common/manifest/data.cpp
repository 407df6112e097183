#include "common/manifest/data.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace weft::manifest {

namespace {

constexpr std::array<std::string_view, 4> data_keys = {"value", "base64", "path", "blob"};

Result<double> float_number(const json::Value& value) {
  if (value.kind() == json::Kind::string) {
    WEFT_ASSIGN(const std::string word, value.string({.bytes_max = 64}));
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
    return value.error("must be a number, \"nan\", \"inf\" or \"-inf\"");
  }
  return value.number();
}

Result<> append_number(const json::Value& value, ElementType type, ByteVector& out) {
  switch (type) {
    case ElementType::i8: {
      WEFT_ASSIGN(const std::int8_t number, value.integer_as<std::int8_t>());
      out.push_back(static_cast<std::uint8_t>(number));
      return {};
    }
    case ElementType::i32: {
      WEFT_ASSIGN(const std::int32_t number, value.integer_as<std::int32_t>());
      append_le(out, static_cast<std::uint32_t>(number));
      return {};
    }
    case ElementType::u32: {
      WEFT_ASSIGN(const std::uint32_t number, value.integer_as<std::uint32_t>());
      append_le(out, number);
      return {};
    }
    case ElementType::f32: {
      WEFT_ASSIGN(const double number, float_number(value));
      const auto narrowed = static_cast<float>(number);
      if (std::isinf(narrowed) && !std::isinf(number)) return value.error("is too large for f32");
      // Every NaN is written with one bit pattern, because the sign and payload that a conversion
      // leaves differ between machines.
      append_le(out, std::isnan(number) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(narrowed));
      return {};
    }
    case ElementType::f16: {
      WEFT_ASSIGN(const double number, float_number(value));
      const auto bits = half_bits(number);
      if (!bits) return value.error("is too large for f16");
      append_le(out, *bits);
      return {};
    }
  }
  return {};
}

Result<Data> parse_values(const json::Value& value, DataShape shape) {
  ByteVector bytes;
  // No memory is reserved by the shape, because a short text may claim a long one.
  std::uint64_t count = 0;
  WEFT_OK(value.for_each({.count_max = std::numeric_limits<std::size_t>::max() - 1},
                         [&](const json::Value& item) -> Result<> {
                           if (count == shape.elements)
                             return value.error("has more numbers than the shape has elements ({})",
                                                shape.elements);
                           ++count;
                           return append_number(item, shape.type, bytes);
                         }));
  if (count != shape.elements)
    return value.error("has {} numbers, but the shape has {} elements", count, shape.elements);
  return Data(Inline{std::move(bytes)});
}

Result<Data> parse_base64(const json::Value& value, DataShape shape) {
  WEFT_ASSIGN(const std::string text,
              value.string({.bytes_max = std::numeric_limits<std::size_t>::max()}));
  auto bytes = from_base64(text);
  if (!bytes) return value.error("is not base64 (RFC 4648, padded)");
  const std::uint64_t wanted = shape.elements * bytes_per_element(shape.type);
  if (bytes->size() != wanted)
    return value.error("has {} bytes, but the shape needs {}", bytes->size(), wanted);
  return Data(Inline{std::move(*bytes)});
}

}  // namespace

std::optional<std::uint16_t> half_bits(double value) {
  if (std::isnan(value)) return std::uint16_t{0x7e00};
  const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0U;
  const double magnitude = std::abs(value);
  std::uint32_t bits = 0;
  if (std::isinf(magnitude)) {
    bits = 0x7c00;
  } else if (magnitude >=
             65520) {  // Midway between the largest half (65504) and the next power of two.
    return std::nullopt;
  } else if (magnitude < 0x1p-14) {  // Subnormal numbers are multiples of 2^-24.
    bits = static_cast<std::uint32_t>(std::nearbyint(magnitude * 0x1p24));
  } else {
    const int exponent = std::ilogb(magnitude);
    // The significand is from 1024 to 2048; 2048 carries into the exponent, which is right.
    const auto significand =
        static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    bits = (static_cast<std::uint32_t>(exponent + 15) << 10U) + (significand - 1024);
  }
  return static_cast<std::uint16_t>(sign | bits);
}

Result<Data> parse_data(const json::Object& object, DataShape shape) {
  std::optional<std::string_view> given;
  for (const std::string_view key : data_keys) {
    const auto value = object.find(key);
    if (!value) continue;
    if (given) return value->error("cannot be given together with \"{}\"", *given);
    given = key;
  }
  if (!given) return Data();
  WEFT_ASSIGN(const json::Value value, object.get(*given));
  if (*given == "value") return parse_values(value, shape);
  if (*given == "base64") return parse_base64(value, shape);
  WEFT_ASSIGN(std::string text, value.string());
  if (*given == "path") {
    if (text.empty() || text.find('\0') != std::string::npos)
      return value.error("must be the path of a file");
    return Data(Path{std::move(text)});
  }
  const auto hash = Hash::parse(text);
  if (!hash) return value.error("must be the 64 hexadecimal digits of a SHA-256");
  return Data(Blob{*hash});
}

}  // namespace weft::manifest
