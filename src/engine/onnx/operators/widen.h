// Converts quantised elements to i32. Private to the folder.
#pragma once

#include "engine/onnx/operators/walk.h"

namespace weft::onnx {

[[nodiscard]] constexpr bool is_byte(ElementType type) {
  return type == ElementType::u8 || type == ElementType::i8;
}
// Returns x - zero. `zero` is null for 0, one number, or one number for each place along `axis`.
[[nodiscard]] std::vector<std::int32_t> less_zero_point(const Tensor& x, const Tensor* zero,
                                                        std::int64_t axis);

}  // namespace weft::onnx
