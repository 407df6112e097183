#include "engine/onnx/operators/walk.h"

namespace weft::onnx {

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t from_end = out.size() - i;
    const std::int64_t left = from_end <= a.size() ? a[a.size() - from_end] : 1;
    const std::int64_t right = from_end <= b.size() ? b[b.size() - from_end] : 1;
    if (left != right && left != 1 && right != 1) return std::nullopt;
    out[i] = left == 1 ? right : left;
  }
  return out;
}

Shape broadcast_strides(const Shape& shape, const Shape& target) {
  const Shape own = row_major_strides(shape);
  Shape out(target.size(), 0);
  const std::size_t skipped = target.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) out[skipped + i] = shape[i] == 1 ? 0 : own[i];
  return out;
}

AxisView::AxisView(const Shape& shape, std::int64_t axis) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.size()); ++i) {
    const std::int64_t size = shape[static_cast<std::size_t>(i)];
    (i < axis ? before : i == axis ? length : after) *= size;
  }
}

std::vector<float> floats_of(const Tensor& tensor) {
  if (tensor.type() == ElementType::f32) {
    const auto values = tensor.values<float>();
    return {values.begin(), values.end()};
  }
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(tensor.count()));
  for (const Half value : tensor.values<Half>()) out.push_back(static_cast<float>(value));
  return out;
}

void store_floats(Tensor& tensor, std::span<const float> values) {
  if (tensor.type() == ElementType::f32) {
    const auto out = tensor.mutable_values<float>();
    std::copy(values.begin(), values.end(), out.begin());
    return;
  }
  const auto out = tensor.mutable_values<Half>();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = Half(values[i]);
}

}  // namespace weft::onnx
