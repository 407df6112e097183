// The types that elements of a tensor can have: the nine types that Weft computes with, by the
// numbers that ONNX gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/result.h"
#include "engine/gguf/half.h"

namespace weft::onnx {

enum class ElementType : std::uint8_t {
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  boolean = 9,
  f16 = 10,
  u32 = 12,
};

// Returns the type with ONNX's number `number`. Fails with unsupported and the name of the type
// (string, f64, ...) if Weft does not compute with that type.
[[nodiscard]] Result<ElementType> element_type_from(std::int64_t number);
// Returns the name of a type: "f32", "bool" and so on.
[[nodiscard]] std::string_view to_string(ElementType type);
[[nodiscard]] std::size_t element_bytes(ElementType type);
[[nodiscard]] constexpr bool is_float(ElementType type) {
  return type == ElementType::f32 || type == ElementType::f16;
}

// A 16-bit float (IEEE binary16) in memory. Arithmetic with it is done in f32, and each result is
// rounded once.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  template <class Number>
    requires std::is_arithmetic_v<Number>
  explicit Half(Number value) : bits(gguf::float_to_half(static_cast<float>(value))) {}
  explicit operator float() const { return gguf::half_to_float(bits); }
};
static_assert(sizeof(Half) == 2);

// A truth value in memory: one byte, 0 or 1. It is not a C++ bool because a bool whose byte is
// neither 0 nor 1 is undefined behaviour, and a file may hold any byte.
struct Truth {
  std::uint8_t bits = 0;
  Truth() = default;
  explicit Truth(bool value) : bits(value ? 1 : 0) {}
  explicit operator bool() const { return bits != 0; }
};

template <class T>
constexpr ElementType type_of = ElementType::f32;
template <>
inline constexpr ElementType type_of<std::uint8_t> = ElementType::u8;
template <>
inline constexpr ElementType type_of<std::int8_t> = ElementType::i8;
template <>
inline constexpr ElementType type_of<std::uint16_t> = ElementType::u16;
template <>
inline constexpr ElementType type_of<std::int16_t> = ElementType::i16;
template <>
inline constexpr ElementType type_of<std::int32_t> = ElementType::i32;
template <>
inline constexpr ElementType type_of<std::int64_t> = ElementType::i64;
template <>
inline constexpr ElementType type_of<std::uint32_t> = ElementType::u32;
template <>
inline constexpr ElementType type_of<Half> = ElementType::f16;
template <>
inline constexpr ElementType type_of<Truth> = ElementType::boolean;

// Calls use.template operator()<T>() with T, the C++ type of `type`.
template <class Use>
decltype(auto) with_type(ElementType type, Use&& use) {
  switch (type) {
    case ElementType::u8:
      return use.template operator()<std::uint8_t>();
    case ElementType::i8:
      return use.template operator()<std::int8_t>();
    case ElementType::u16:
      return use.template operator()<std::uint16_t>();
    case ElementType::i16:
      return use.template operator()<std::int16_t>();
    case ElementType::i32:
      return use.template operator()<std::int32_t>();
    case ElementType::i64:
      return use.template operator()<std::int64_t>();
    case ElementType::u32:
      return use.template operator()<std::uint32_t>();
    case ElementType::f16:
      return use.template operator()<Half>();
    case ElementType::boolean:
      return use.template operator()<Truth>();
    case ElementType::f32:
      break;
  }
  return use.template operator()<float>();
}

}  // namespace weft::onnx
