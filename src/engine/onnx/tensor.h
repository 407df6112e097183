// A tensor in the memory of the processor: element type, shape and bytes, row-major and
// little-endian. Tensors are values; copies share their bytes until one of the copies is written.
//
// A tensor may have a type and a shape but no bytes. It then describes a result before the run that
// produces it. Bounds: at most rank_max dimensions and at most 2 GiB of bytes.
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

// Writes a shape as text, such as "[1, 3, 640, 640]".
[[nodiscard]] std::string to_string(const Shape& shape);
// Returns the product of the sizes of a shape that checked_count() has accepted.
[[nodiscard]] std::int64_t element_count(const Shape& shape);
// Returns the number of elements. Fails with invalid_argument if a size is negative, and with
// resource_exhausted if the tensor exceeds the bounds.
[[nodiscard]] Result<std::int64_t> checked_count(const Shape& shape, ElementType type);
// Returns, for each dimension, the number of elements between neighbours along it, in row-major
// order.
[[nodiscard]] Shape row_major_strides(const Shape& shape);

class Tensor {
 public:
  Tensor() = default;
  // Makes a tensor of zeros. Fails as checked_count() does.
  [[nodiscard]] static Result<Tensor> create(ElementType type, Shape shape);
  // Makes a tensor without bytes, of which only type and shape are known.
  [[nodiscard]] static Result<Tensor> shape_only(ElementType type, Shape shape);
  // Fails with invalid_argument if bytes.size() is not the size that the type and the shape take.
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
  // Returns a tensor with the same bytes and another shape. The new shape must have the same number
  // of elements.
  [[nodiscard]] Tensor reshaped(Shape shape) const;
  // Returns a tensor with the type and shape of this one but without bytes.
  [[nodiscard]] Tensor without_bytes() const { return Tensor(type_, shape_); }

  // Returns element `index` of a tensor of any type as a number; true is 1 and false is 0.
  [[nodiscard]] double number(std::int64_t index) const;
  // Returns the elements of an integer or bool tensor.
  [[nodiscard]] std::vector<std::int64_t> integers() const;

 private:
  Tensor(ElementType type, Shape shape) : type_(type), shape_(std::move(shape)) {}
  void own();

  ElementType type_ = ElementType::f32;
  Shape shape_;
  std::shared_ptr<ByteVector> bytes_;
};

}  // namespace weft::onnx
