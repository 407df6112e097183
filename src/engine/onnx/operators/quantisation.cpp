// Operators that convert floats to small integers and back: q = round(x / scale) + zero and x = (q
// - zero) * scale.
#include "engine/onnx/operators/quantisation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/product.h"
#include "engine/onnx/operators/widen.h"
#include "engine/onnx/operators/window.h"

namespace weft::onnx {
namespace {

bool is_quantised(ElementType type) {
  return is_byte(type) || type == ElementType::u16 || type == ElementType::i16;
}

// Rounds to the nearest integer, ties to even, and clamps to the range of T.
template <class T>
T saturated(double value) {
  if (!(value == value)) return 0;
  return static_cast<T>(std::clamp(std::nearbyint(value),
                                   static_cast<double>(std::numeric_limits<T>::min()),
                                   static_cast<double>(std::numeric_limits<T>::max())));
}

Result<> run_quantize(Call& call) {
  const Tensor& x = call.input(0);
  const Tensor* zero = call.optional_input(2);
  if (!is_float(x.type()) && x.type() != ElementType::i32) return call.bad_type(0);
  ElementType type = zero == nullptr ? ElementType::u8 : zero->type();
  if (zero == nullptr && call.integer("output_dtype", 0) != 0) {
    auto named = element_type_from(call.integer("output_dtype", 0));
    if (!named) return call.located(named.error().code, named.error().message);
    type = *named;
  }
  if (!is_quantised(type))
    return call.located(ErrorCode::unsupported,
                        weft::format("its output cannot be of type {}.", to_string(type)));
  WEFT_ASSIGN(const Scales scales, plan_scales(call));
  WEFT_ASSIGN(Tensor * out, call.make(0, type, x.shape()));
  if (call.shapes_only()) return {};
  const std::vector<float> scale = floats_of(call.input(1));
  with_type(type, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      const auto result = out->mutable_values<T>();
      for (std::size_t i = 0; i < result.size(); ++i) {
        const std::int64_t s = scales.place(static_cast<std::int64_t>(i));
        const double quotient = static_cast<float>(x.number(static_cast<std::int64_t>(i))) /
                                scale[static_cast<std::size_t>(s)];
        result[i] =
            saturated<T>(std::nearbyint(quotient) + (zero == nullptr ? 0 : zero->number(s)));
      }
    }
  });
  return {};
}

Result<> run_dequantize(Call& call) {
  const Tensor& x = call.input(0);
  const Tensor* zero = call.optional_input(2);
  if (!is_quantised(x.type()) && x.type() != ElementType::i32) return call.bad_type(0);
  if (zero != nullptr && zero->type() != x.type()) return call.bad_type(2);
  WEFT_ASSIGN(const Scales scales, plan_scales(call));
  const ElementType type = call.input(1).type();
  WEFT_ASSIGN(Tensor * out, call.make(0, type, x.shape()));
  if (call.shapes_only()) return {};
  const std::vector<float> scale = floats_of(call.input(1));
  std::vector<float> values(static_cast<std::size_t>(x.count()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t s = scales.place(static_cast<std::int64_t>(i));
    values[i] = static_cast<float>(
        (x.number(static_cast<std::int64_t>(i)) - (zero == nullptr ? 0 : zero->number(s))) *
        static_cast<double>(scale[static_cast<std::size_t>(s)]));
  }
  store_floats(*out, values);
  return {};
}

// Quantises to u8 over the range of the input, which is widened to contain 0.
Result<> run_dynamic_quantize(Call& call) {
  const Tensor& x = call.input(0);
  if (x.type() != ElementType::f32) return call.bad_type(0);
  WEFT_ASSIGN(Tensor * out, call.make(0, ElementType::u8, x.shape()));
  Tensor *scale = nullptr, *zero = nullptr;
  if (call.wants(1)) {
    WEFT_ASSIGN(scale, call.make(1, ElementType::f32, {}));
  }
  if (call.wants(2)) {
    WEFT_ASSIGN(zero, call.make(2, ElementType::u8, {}));
  }
  if (call.shapes_only()) return {};
  float low = 0, high = 0;
  for (const float value : x.values<float>()) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const float step = (high - low) / 255;
  const auto offset = step == 0 ? std::uint8_t{0} : saturated<std::uint8_t>(-low / step);
  const auto in = x.values<float>();
  const auto result = out->mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = step == 0 ? offset : saturated<std::uint8_t>(std::nearbyint(in[i] / step) + offset);
  if (scale != nullptr) scale->mutable_values<float>()[0] = step;
  if (zero != nullptr) zero->mutable_values<std::uint8_t>()[0] = offset;
  return {};
}

// Checks inputs in this order: x, its scale and zero point, w, its scale and zero point, the scale
// and zero point of the result.
Result<> check_pair(const Call& call) {
  for (const std::size_t i : {0, 3})
    if (!is_byte(call.input(i).type())) return call.bad_type(i);
  for (const std::size_t i : {1, 4, 6})
    if (!is_float(call.input(i).type())) return call.bad_type(i);
  if (call.input(2).type() != call.input(0).type()) return call.bad_type(2);
  if (call.input(5).type() != call.input(3).type()) return call.bad_type(5);
  if (!is_byte(call.input(7).type())) return call.bad_type(7);
  for (const std::size_t i : {6, 7})
    if (call.input(i).count() != 1) return call.error("input {} must be one number.", i);
  return {};
}

// Converts sums, which are in units of scale(i), to quantised numbers of the output.
void requantise(const Call& call, Tensor& out, std::span<const std::int32_t> sums,
                const std::function<double(std::size_t)>& scale) {
  const double y_scale = call.input(6).number(0), y_zero = call.input(7).number(0);
  with_type(out.type(), [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      const auto result = out.mutable_values<T>();
      for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = saturated<T>(std::nearbyint(sums[i] * scale(i) / y_scale) + y_zero);
    }
  });
}

Result<> run_qlinear_conv(Call& call) {
  WEFT_OK(check_pair(call));
  const Tensor &x = call.input(0), &weights = call.input(3);
  WEFT_ASSIGN(const ConvolutionPlan plan, plan_convolution(call, x, weights));
  const std::int64_t channels = plan.output[1];
  const Tensor* bias = call.optional_input(8);
  if (call.input(1).count() != 1 || call.input(2).count() != 1)
    return call.error("the input's scale and zero point must be one number.");
  for (const std::size_t i : {4, 5})
    if (call.input(i).count() != 1 && call.input(i).count() != channels)
      return call.error("input {} must have 1 or {} values.", i, channels);
  if (bias != nullptr && (bias->type() != ElementType::i32 || bias->count() != channels))
    return call.bad_type(8);
  WEFT_ASSIGN(Tensor * out, call.make(0, call.input(7).type(), plan.output));
  if (call.shapes_only()) return {};
  std::vector<std::int32_t> sums(static_cast<std::size_t>(out->count()));
  convolve(plan, less_zero_point(x, &call.input(2), 0), less_zero_point(weights, &call.input(5), 0),
           bias == nullptr ? std::span<const std::int32_t>() : bias->values<std::int32_t>(), sums);
  const std::int64_t plane = element_count(plan.window.output);
  requantise(call, *out, sums, [&](std::size_t i) {
    const std::int64_t channel = static_cast<std::int64_t>(i) / plane % channels;
    return call.input(1).number(0) * call.input(4).number(call.input(4).count() == 1 ? 0 : channel);
  });
  return {};
}

Result<> run_qlinear_matmul(Call& call) {
  WEFT_OK(check_pair(call));
  const Tensor &a = call.input(0), &b = call.input(3);
  WEFT_ASSIGN(const ProductPlan plan, plan_product(call, a.shape(), b.shape()));
  for (const std::size_t i : {1, 2})
    if (call.input(i).count() != 1 && call.input(i).count() != plan.rows)
      return call.error("input {} must have 1 or {} values.", i, plan.rows);
  for (const std::size_t i : {4, 5})
    if (call.input(i).count() != 1 && call.input(i).count() != plan.columns)
      return call.error("input {} must have 1 or {} values.", i, plan.columns);
  WEFT_ASSIGN(Tensor * out, call.make(0, call.input(7).type(), plan.output));
  if (call.shapes_only()) return {};
  const auto left = less_zero_point(a, &call.input(2), std::max<std::int64_t>(0, a.rank() - 2));
  const auto right = less_zero_point(b, &call.input(5), b.rank() - 1);
  std::vector<std::int32_t> sums(static_cast<std::size_t>(out->count()));
  each_matrix(plan, [&](std::int64_t i, std::int64_t j, std::int64_t o) {
    add_product(plan.rows, plan.depth, plan.columns, left.data() + i * plan.rows * plan.depth,
                right.data() + j * plan.depth * plan.columns,
                sums.data() + o * plan.rows * plan.columns);
  });
  requantise(call, *out, sums, [&](std::size_t i) {
    const std::int64_t column = static_cast<std::int64_t>(i) % plan.columns;
    const std::int64_t row = static_cast<std::int64_t>(i) / plan.columns % plan.rows;
    return call.input(1).number(call.input(1).count() == 1 ? 0 : row) *
           call.input(4).number(call.input(4).count() == 1 ? 0 : column);
  });
  return {};
}

}  // namespace

Result<Scales> plan_scales(const Call& call) {
  const Tensor &x = call.input(0), &scale = call.input(1);
  const Tensor* zero = call.optional_input(2);
  if (!is_float(scale.type())) return call.bad_type(1);
  if (zero != nullptr && zero->count() != scale.count())
    return call.error("it has {} scales but {} zero points.", scale.count(), zero->count());
  Scales out;
  const std::int64_t block = call.integer("block_size", 0);
  if (scale.count() == 1 && block == 0) return out;
  WEFT_ASSIGN(const std::int64_t axis, call.axis(call.integer("axis", 1), x.rank()));
  out.view = AxisView(x.shape(), axis);
  if (block == 0) {
    if (scale.count() != out.view.length)
      return call.error("{} scales are given for an axis of {}.", scale.count(), out.view.length);
    out.along = scale.count();
    return out;
  }
  Shape expected = x.shape();
  if (block < 1 || block > out.view.length + 1)
    return call.error("its block_size {} is out of range.", block);
  expected[static_cast<std::size_t>(axis)] = (out.view.length + block - 1) / block;
  if (scale.shape() != expected)
    return call.error("scales of shape {} must have shape {}.", to_string(scale.shape()),
                      to_string(expected));
  out.block = block;
  out.along = expected[static_cast<std::size_t>(axis)];
  return out;
}

std::vector<std::int32_t> less_zero_point(const Tensor& x, const Tensor* zero, std::int64_t axis) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(x.count()));
  const bool single = zero == nullptr || zero->count() == 1;
  const AxisView view(x.shape(), axis);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    const double offset =
        zero == nullptr ? 0 : zero->number(single ? 0 : place / view.after % view.length);
    out[i] = static_cast<std::int32_t>(x.number(place) - offset);
  }
  return out;
}

std::span<const Operator> quantisation_operators() {
  static constexpr Operator rows[] = {
      {"DequantizeLinear", run_dequantize, 2, 3, 1, "axis:i block_size:i output_dtype:i"},
      {"DynamicQuantizeLinear", run_dynamic_quantize, 1, 1, 3},
      {"QLinearConv", run_qlinear_conv, 8, 9, 1,
       "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"},
      {"QLinearMatMul", run_qlinear_matmul, 8, 8},
      {"QuantizeLinear", run_quantize, 2, 3, 1,
       "axis:i block_size:i output_dtype:i precision:i saturate:i"},
  };
  return rows;
}

}  // namespace weft::onnx
