// A tensor on the processor: element type, shape and bytes, row-major, little-endian. Tensors are
// values; copies share bytes until one of them is written.
//
// A tensor without bytes is known by type and shape only: what a run will produce, before it runs.
// Bounds: at most rank_max dimensions, at most 2 GiB of bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/check.h"
#include "engine/onnx/element_type.h"

namespace weft::onnx {

using Shape = std::vector<std::int64_t>;

inline constexpr std::size_t rank_max = 16;
inline constexpr std::uint64_t tensor_bytes_max = std::uint64_t{1} << 31;

[[nodiscard]] std::string to_string(const Shape& shape);  // "[1, 3, 640, 640]"
// The product of the sizes, for shapes that checked_count() accepted.
[[nodiscard]] std::int64_t element_count(const Shape& shape);
// Fails with invalid_argument if a size is negative, with resource_exhausted over the bounds.
[[nodiscard]] Result<std::int64_t> checked_count(const Shape& shape, ElementType type);
// Elements between neighbours along each dimension, row-major.
[[nodiscard]] Shape row_major_strides(const Shape& shape);

class Tensor {
 public:
  Tensor() = default;
  // Zeros. Fails as checked_count() does.
  [[nodiscard]] static Result<Tensor> create(ElementType type, Shape shape);
  // Known by type and shape only.
  [[nodiscard]] static Result<Tensor> shape_only(ElementType type, Shape shape);
  // bytes.size() is what type and shape take, else invalid_argument.
  [[nodiscard]] static Result<Tensor> from_bytes(ElementType type, Shape shape, ByteVector bytes);
  template <class T>
  [[nodiscard]] static Tensor of(Shape shape, std::span<const T> values) {
    check(static_cast<std::size_t>(element_count(shape)) == values.size(), "a value per element");
    Tensor tensor(type_of<T>, std::move(shape));
    const ByteSpan bytes = weft::as_bytes(values);
    tensor.bytes_ = std::make_shared<ByteVector>(bytes.begin(), bytes.end());
    return tensor;
  }

  [[nodiscard]] ElementType type() const { return type_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(shape_.size()); }
  [[nodiscard]] std::int64_t count() const { return element_count(shape_); }
  [[nodiscard]] std::uint64_t byte_count() const {
    return static_cast<std::uint64_t>(count()) * element_bytes(type_);
  }
  [[nodiscard]] bool has_bytes() const { return bytes_ != nullptr; }

  [[nodiscard]] ByteSpan bytes() const {
    check(has_bytes(), "only a tensor with bytes is read");
    return *bytes_;
  }
  template <class T>
  [[nodiscard]] std::span<const T> values() const {
    check(type_of<T> == type_ && has_bytes(), "a tensor is read as what it is");
    return {reinterpret_cast<const T*>(bytes_->data()), bytes_->size() / sizeof(T)};
  }
  template <class T>
  [[nodiscard]] std::span<T> mutable_values() {
    check(type_of<T> == type_, "a tensor is written as what it is");
    own();
    return {reinterpret_cast<T*>(bytes_->data()), bytes_->size() / sizeof(T)};
  }
  [[nodiscard]] std::span<std::uint8_t> mutable_bytes() {
    own();
    return *bytes_;
  }
  // The same bytes in another shape of as many elements.
  [[nodiscard]] Tensor reshaped(Shape shape) const;
  // Type and shape of this, without its bytes.
  [[nodiscard]] Tensor without_bytes() const { return Tensor(type_, shape_); }

  // Element `index` of any type, as a number; 1 and 0 for true and false.
  [[nodiscard]] double number(std::int64_t index) const;
  // Elements of an integer or bool tensor.
  [[nodiscard]] std::vector<std::int64_t> integers() const;

 private:
  Tensor(ElementType type, Shape shape) : type_(type), shape_(std::move(shape)) {}
  void own();

  ElementType type_ = ElementType::f32;
  Shape shape_;
  std::shared_ptr<ByteVector> bytes_;
};

}  // namespace weft::onnx
