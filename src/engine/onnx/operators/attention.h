// Computes how the tensors of an Attention or RotaryEmbedding node are cut into heads. Used by the
// processor and by GPU kernels.
#pragma once

#include "engine/onnx/operators/call.h"

namespace weft::onnx {

// The sizes of a tensor of heads, and its layout: [batch][heads][length][size] unless `flat` is
// set.
struct Heads {
  std::int64_t batch = 0, heads = 0, length = 0, size = 0;
  bool flat = false;  // True for the layout [batch][length][heads * size].
  [[nodiscard]] std::size_t place(std::int64_t b, std::int64_t h, std::int64_t i,
                                  std::int64_t k) const {
    return static_cast<std::size_t>(flat ? ((b * length + i) * heads + h) * size + k
                                         : ((b * heads + h) * length + i) * size + k);
  }
};
// `count` is the name of the attribute that gives the number of heads of a tensor with three
// dimensions.
[[nodiscard]] Result<Heads> heads_of(const Call& call, std::size_t input, std::string_view count);

}  // namespace weft::onnx
