#include "engine/onnx/tensor.h"

namespace weft::onnx {

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text.append(i == 0 ? "" : ", ").append(std::to_string(shape[i]));
  return text + "]";
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

Result<std::int64_t> checked_count(const Shape& shape, ElementType type) {
  if (shape.size() > rank_max)
    return fail(ErrorCode::resource_exhausted,
                "A tensor has {} dimensions; at most {} are allowed.", shape.size(), rank_max);
  std::uint64_t count = 1;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0)
      return fail(ErrorCode::invalid_argument, "The shape {} has a negative size.",
                  to_string(shape));
    empty = empty || size == 0;
  }
  if (empty) return 0;
  for (const std::int64_t size : shape) {
    if (static_cast<std::uint64_t>(size) > tensor_bytes_max / element_bytes(type) / count)
      return fail(ErrorCode::resource_exhausted,
                  "A tensor of shape {} and type {} takes more than {} bytes.", to_string(shape),
                  to_string(type), tensor_bytes_max);
    count *= static_cast<std::uint64_t>(size);
  }
  return static_cast<std::int64_t>(count);
}

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

Result<Tensor> Tensor::create(ElementType type, Shape shape) {
  WEFT_ASSIGN(const std::int64_t count, checked_count(shape, type));
  Tensor tensor(type, std::move(shape));
  tensor.bytes_ =
      std::make_shared<ByteVector>(static_cast<std::size_t>(count) * element_bytes(type));
  return tensor;
}

Result<Tensor> Tensor::shape_only(ElementType type, Shape shape) {
  WEFT_OK(checked_count(shape, type).transform([](std::int64_t) {}));
  return Tensor(type, std::move(shape));
}

Result<Tensor> Tensor::from_bytes(ElementType type, Shape shape, ByteVector bytes) {
  WEFT_ASSIGN(const std::int64_t count, checked_count(shape, type));
  const std::size_t expected = static_cast<std::size_t>(count) * element_bytes(type);
  if (bytes.size() != expected)
    return fail(ErrorCode::invalid_argument,
                "A tensor of shape {} and type {} takes {} bytes; {} are given.", to_string(shape),
                to_string(type), expected, bytes.size());
  Tensor tensor(type, std::move(shape));
  tensor.bytes_ = std::make_shared<ByteVector>(std::move(bytes));
  return tensor;
}

Tensor Tensor::reshaped(Shape shape) const {
  check(element_count(shape) == count(), "a reshape keeps the number of elements");
  Tensor tensor(type_, std::move(shape));
  tensor.bytes_ = bytes_;
  return tensor;
}

double Tensor::number(std::int64_t index) const {
  return with_type(type_, [&]<class T>() -> double {
    const T value = values<T>()[static_cast<std::size_t>(index)];
    if constexpr (std::is_same_v<T, Half>)
      return static_cast<float>(value);
    else if constexpr (std::is_same_v<T, Truth>)
      return static_cast<bool>(value) ? 1 : 0;
    else
      return static_cast<double>(value);
  });
}

std::vector<std::int64_t> Tensor::integers() const {
  return with_type(type_, [&]<class T>() -> std::vector<std::int64_t> {
    if constexpr (std::is_integral_v<T>) {
      const std::span<const T> all = values<T>();
      return {all.begin(), all.end()};
    } else if constexpr (std::is_same_v<T, Truth>) {
      std::vector<std::int64_t> out;
      for (const Truth value : values<Truth>()) out.push_back(value.bits != 0 ? 1 : 0);
      return out;
    } else {
      check(false, "only integers are read as integers");
      return {};
    }
  });
}

void Tensor::own() {
  if (bytes_ != nullptr && bytes_.use_count() == 1) return;
  bytes_ = bytes_ == nullptr ? std::make_shared<ByteVector>(static_cast<std::size_t>(byte_count()))
                             : std::make_shared<ByteVector>(*bytes_);
}

}  // namespace weft::onnx
