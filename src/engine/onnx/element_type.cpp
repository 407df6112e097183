#include "engine/onnx/element_type.h"

#include <array>

namespace weft::onnx {

Result<ElementType> element_type_from(std::int64_t number) {
  constexpr std::array<std::string_view, 26> names = {
      "undefined", "f32",        "u8",     "i8",       "u16",        "i16",    "i32",
      "i64",       "string",     "bool",   "f16",      "f64",        "u32",    "u64",
      "complex64", "complex128", "bf16",   "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz",
      "u4",        "i4",         "f4e2m1", "f8e8m0",   "u2"};
  switch (number) {
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
    case 9:
    case 10:
    case 12:
      return static_cast<ElementType>(number);
    default:
      break;
  }
  if (number >= 0 && number < static_cast<std::int64_t>(names.size()))
    return fail(ErrorCode::unsupported,
                "Elements of type {} are not supported: only f32, f16, i8, u8, i16, u16, i32, u32, "
                "i64 and bool.",
                names[static_cast<std::size_t>(number)]);
  return fail(ErrorCode::unsupported, "The element type {} is not one of ONNX's.", number);
}

std::string_view to_string(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return "f32";
    case ElementType::u8:
      return "u8";
    case ElementType::i8:
      return "i8";
    case ElementType::u16:
      return "u16";
    case ElementType::i16:
      return "i16";
    case ElementType::i32:
      return "i32";
    case ElementType::i64:
      return "i64";
    case ElementType::boolean:
      return "bool";
    case ElementType::f16:
      return "f16";
    case ElementType::u32:
      return "u32";
  }
  return "?";
}

std::size_t element_bytes(ElementType type) {
  return with_type(type, []<class T>() { return sizeof(T); });
}

}  // namespace weft::onnx
