// Operators that make tensors from attributes and small tensors.
#include <algorithm>
#include <cmath>

#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

Result<> run_constant(Call& call) {
  if (const Tensor* value = call.tensor("value")) {
    call.share(0, *value);
    return {};
  }
  if (const auto* number = call.attribute<float>("value_float")) {
    call.share(0, Tensor::of<float>({}, std::span(number, 1)));
    return {};
  }
  if (const auto* number = call.attribute<std::int64_t>("value_int")) {
    call.share(0, Tensor::of<std::int64_t>({}, std::span(number, 1)));
    return {};
  }
  if (const auto* numbers = call.attribute<std::vector<float>>("value_floats")) {
    call.share(0, Tensor::of<float>({static_cast<std::int64_t>(numbers->size())}, *numbers));
    return {};
  }
  if (const auto* numbers = call.attribute<std::vector<std::int64_t>>("value_ints")) {
    call.share(0, Tensor::of<std::int64_t>({static_cast<std::int64_t>(numbers->size())}, *numbers));
    return {};
  }
  return call.located(ErrorCode::unsupported, "it has no value of a type that is supported.");
}

Result<> run_constant_of_shape(Call& call) {
  WEFT_ASSIGN(Shape shape, call.integers_of(0));
  const Tensor* value = call.tensor("value");
  if (value != nullptr && value->count() != 1) return call.error("its value must be one number.");
  WEFT_ASSIGN(Tensor * out,
              call.make(0, value == nullptr ? ElementType::f32 : value->type(), std::move(shape)));
  if (call.shapes_only() || value == nullptr) return {};
  with_type(value->type(),
            [&]<class T>() { std::ranges::fill(out->mutable_values<T>(), value->values<T>()[0]); });
  return {};
}

// Makes the numbers start, start + delta, ... that lie before limit.
Result<> run_range(Call& call) {
  const Tensor& start = call.input(0);
  if (start.type() == ElementType::boolean) return call.bad_type(0);
  for (const std::size_t i : {0, 1, 2}) {
    if (call.input(i).type() != start.type()) return call.bad_type(i);
    if (call.input(i).count() != 1) return call.error("input {} must be one number.", i);
  }
  WEFT_ASSIGN(const auto first, call.numbers_of(0));
  WEFT_ASSIGN(const auto limit, call.numbers_of(1));
  WEFT_ASSIGN(const auto delta, call.numbers_of(2));
  const double steps = std::ceil((limit[0] - first[0]) / delta[0]);
  if (delta[0] == 0 || !(steps == steps))
    return call.error("its delta is {}, with which it cannot step from its start to its limit.",
                      delta[0]);
  if (steps > static_cast<double>(tensor_bytes_max))
    return call.error("its output would have too many elements.");
  const std::int64_t count = steps <= 0 ? 0 : static_cast<std::int64_t>(steps);
  WEFT_ASSIGN(Tensor * out, call.make(0, start.type(), {count}));
  if (call.shapes_only()) return {};
  with_type(start.type(), [&]<class T>() {
    const auto result = out->mutable_values<T>();
    if constexpr (std::is_integral_v<T>) {
      const auto from = static_cast<std::uint64_t>(start.values<T>()[0]);
      const auto by = static_cast<std::uint64_t>(call.input(2).values<T>()[0]);
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<T>(from + i * by);
    } else if constexpr (!std::is_same_v<T, Truth>) {
      for (std::size_t i = 0; i < result.size(); ++i)
        result[i] =
            static_cast<T>(static_cast<float>(first[0] + static_cast<double>(i) * delta[0]));
    }
  });
  return {};
}

Result<> run_one_hot(Call& call) {
  const Tensor &indices = call.input(0), &values = call.input(2);
  if (values.count() != 2) return call.error("its values must be two, off and on.");
  WEFT_ASSIGN(const auto depths, call.numbers_of(1));
  if (depths.size() != 1 || !(depths[0] >= 0) || depths[0] > 1e9)
    return call.error("its depth must be one number, not negative.");
  const auto depth = static_cast<std::int64_t>(depths[0]);
  WEFT_ASSIGN(const std::int64_t axis, call.axis(call.integer("axis", -1), indices.rank() + 1));
  Shape shape = indices.shape();
  shape.insert(shape.begin() + axis, depth);
  WEFT_ASSIGN(Tensor * out, call.make(0, values.type(), shape));
  if (call.shapes_only() || out->count() == 0) return {};
  const AxisView view(shape, axis);
  with_type(values.type(), [&]<class T>() {
    const auto result = out->mutable_values<T>();
    std::ranges::fill(result, values.values<T>()[0]);
    for (std::int64_t i = 0; i < indices.count(); ++i) {
      // A row whose index is out of range has no hot element.
      const double given = indices.number(i);
      if (!(given >= static_cast<double>(-depth)) || given >= static_cast<double>(depth)) continue;
      auto index = static_cast<std::int64_t>(given);
      if (index < 0) index += depth;
      const std::int64_t b = i / view.after, a = i % view.after;
      result[static_cast<std::size_t>((b * depth + index) * view.after + a)] =
          values.values<T>()[1];
    }
  });
  return {};
}

}  // namespace

std::span<const Operator> generator_operators() {
  static constexpr Operator rows[] = {
      {"Constant", run_constant, 0, 0, 1,
       "value:t value_float:f value_int:i value_floats:F value_ints:I"},
      {"ConstantOfShape", run_constant_of_shape, 1, 1, 1, "value:t"},
      {"OneHot", run_one_hot, 3, 3, 1, "axis:i"},
      {"Range", run_range, 3, 3, 1, "stash_type:i"},
  };
  return rows;
}

}  // namespace weft::onnx
