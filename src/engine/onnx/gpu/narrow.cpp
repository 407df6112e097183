#include "engine/onnx/gpu/narrow.h"

#include "common/base/format.h"

namespace weft::onnx {

std::string narrowed(ElementType type, const std::string& text) {
  switch (type) {
    case ElementType::u8:
      return "((" + text + ") & 0xffu)";
    case ElementType::u16:
      return "((" + text + ") & 0xffffu)";
    case ElementType::i8:
      return "(((" + text + ") << 24u) >> 24u)";
    case ElementType::i16:
      return "(((" + text + ") << 16u) >> 16u)";
    default:
      return text;
  }
}

std::string saturated(ElementType type, const std::string& value, const std::string& zero) {
  std::int64_t low = 0, high = 255;
  if (type == ElementType::i8) {
    low = -128;
    high = 127;
  } else if (type == ElementType::u16) {
    high = 65535;
  } else if (type == ElementType::i16) {
    low = -32768;
    high = 32767;
  }
  // The quotient is clamped and converted before the zero point is added, because a float cannot
  // hold the sum of a large quotient and the zero point exactly.
  return weft::format("{}(clamp(i32(clamp(round({}), -1.0e6, 1.0e6)) + {}, {}, {}))",
                      low < 0 ? "i32" : "u32", value, zero, low, high);
}

}  // namespace weft::onnx
