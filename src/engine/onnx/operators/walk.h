// Visits the elements of tensors whose shapes differ, for broadcasting, permuting and slicing.
// Private to the folder.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/onnx/operators/call.h"

namespace weft::onnx {

// Broadcasts two shapes by numpy's rule: the shapes are aligned at the end, and two sizes must be
// equal or one of them must be 1. Returns nullopt if the shapes do not fit.
[[nodiscard]] std::optional<Shape> broadcast(const Shape& a, const Shape& b);
// Returns the strides with which a tensor of `shape`, broadcast to `target`, is read: 0 along
// repeated dimensions.
[[nodiscard]] Shape broadcast_strides(const Shape& shape, const Shape& target);

// Calls use(index, offsets) for each element of `shape` in order. offsets[k] is the position of the
// element in operand k, whose strides (one per dimension) are strides[k] and whose first element is
// starts[k].
template <std::size_t n, class Use>
void walk(const Shape& shape, const std::array<Shape, n>& strides,
          const std::array<std::int64_t, n>& starts, Use&& use) {
  const std::int64_t total = element_count(shape);
  if (total == 0) return;
  const std::size_t rank = shape.size();
  const std::int64_t inner = rank == 0 ? 1 : shape[rank - 1];
  std::array<std::int64_t, n> base = starts;
  std::array<std::int64_t, n> step{};
  if (rank > 0)
    for (std::size_t k = 0; k < n; ++k) step[k] = strides[k][rank - 1];
  std::array<std::int64_t, rank_max> place{};
  for (std::int64_t index = 0; index < total;) {
    std::array<std::int64_t, n> offsets = base;
    for (std::int64_t i = 0; i < inner; ++i) {
      use(index++, offsets);
      for (std::size_t k = 0; k < n; ++k) offsets[k] += step[k];
    }
    if (rank < 2) break;
    for (std::size_t d = rank - 1; d-- > 0;) {
      for (std::size_t k = 0; k < n; ++k) base[k] += strides[k][d];
      if (++place[d] < shape[d]) break;
      for (std::size_t k = 0; k < n; ++k) base[k] -= strides[k][d] * shape[d];
      place[d] = 0;
    }
  }
}

// A tensor seen as [before][length][after] around one axis.
struct AxisView {
  std::int64_t before = 1;
  std::int64_t length = 1;
  std::int64_t after = 1;
  AxisView(const Shape& shape, std::int64_t axis);
};

// Makes f32 copies of f32 and f16 tensors, and stores f32 results in them. Operators that are not
// elementwise compute in f32 and round once.
[[nodiscard]] std::vector<float> floats_of(const Tensor& tensor);
void store_floats(Tensor& tensor, std::span<const float> values);

}  // namespace weft::onnx
