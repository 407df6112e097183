#include "engine/onnx/operators/call.h"

namespace weft::onnx {
namespace {

template <class Kind>
const Kind& kept(const Attribute& attribute) {
  const Kind* value = std::get_if<Kind>(&attribute);
  check(value != nullptr, "an attribute is of the kind that the table says");
  return *value;
}

}  // namespace

Result<std::vector<std::int64_t>> Call::integers_of(std::size_t i) const {
  const Tensor& tensor = input(i);
  if (!tensor.has_bytes())
    return located(ErrorCode::unavailable,
                   weft::format("its shape depends on the values of input {}, which are not known "
                                "before it runs.",
                                i));
  if (is_float(tensor.type()))
    return error("input {} must be of integers, not {}.", i, to_string(tensor.type()));
  return tensor.integers();
}

Result<std::vector<double>> Call::numbers_of(std::size_t i) const {
  const Tensor& tensor = input(i);
  if (!tensor.has_bytes())
    return located(ErrorCode::unavailable,
                   weft::format("its shape depends on the values of input {}, which are not known "
                                "before it runs.",
                                i));
  std::vector<double> out(static_cast<std::size_t>(tensor.count()));
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = tensor.number(static_cast<std::int64_t>(k));
  return out;
}

Result<Tensor*> Call::make(std::size_t output, ElementType type, Shape shape) {
  auto made = options_.shapes_only ? Tensor::shape_only(type, std::move(shape))
                                   : Tensor::create(type, std::move(shape));
  if (!made) return located(made.error().code, made.error().message);
  outputs_[output] = std::move(*made);
  return &*outputs_[output];
}

const Attribute* Call::find(std::string_view name) const {
  const auto found = node_.attributes.find(name);
  return found == node_.attributes.end() ? nullptr : &found->second;
}

std::int64_t Call::integer(std::string_view name, std::int64_t otherwise) const {
  const Attribute* found = find(name);
  return found == nullptr ? otherwise : kept<std::int64_t>(*found);
}
float Call::number(std::string_view name, float otherwise) const {
  const Attribute* found = find(name);
  return found == nullptr ? otherwise : kept<float>(*found);
}
std::string Call::text(std::string_view name, std::string_view otherwise) const {
  const Attribute* found = find(name);
  return found == nullptr ? std::string(otherwise) : kept<std::string>(*found);
}
std::vector<std::int64_t> Call::integers(std::string_view name) const {
  const Attribute* found = find(name);
  return found == nullptr ? std::vector<std::int64_t>() : kept<std::vector<std::int64_t>>(*found);
}
std::vector<float> Call::numbers(std::string_view name) const {
  const Attribute* found = find(name);
  return found == nullptr ? std::vector<float>() : kept<std::vector<float>>(*found);
}
const Tensor* Call::tensor(std::string_view name) const {
  const Attribute* found = find(name);
  return found == nullptr ? nullptr : &kept<Tensor>(*found);
}

Result<std::int64_t> Call::axis(std::int64_t value, std::int64_t rank) const {
  if (value < -rank || value >= rank)
    return error("the axis {} is outside of a tensor of {} dimensions.", value, rank);
  return value < 0 ? value + rank : value;
}

std::unexpected<Error> Call::located(ErrorCode code, std::string message) const {
  return fail(code, "Node '{}' ({}): {}", node_.name, node_.op, message);
}

std::unexpected<Error> Call::bad_type(std::size_t i) const {
  return located(ErrorCode::unsupported,
                 weft::format("its input {} cannot be of type {}.", i, to_string(input(i).type())));
}

}  // namespace weft::onnx
