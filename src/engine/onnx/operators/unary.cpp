// Operators with one input tensor and one output tensor of the same shape.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/onnx/operators/operator.h"

namespace weft::onnx {
namespace {

template <class Map>
Result<> map_floats(Call& call, Map map) {
  const Tensor& x = call.input(0);
  if (!is_float(x.type())) return call.bad_type(0);
  WEFT_ASSIGN(Tensor * y, call.make(0, x.type(), x.shape()));
  if (call.shapes_only()) return {};
  if (x.type() == ElementType::f32) {
    const auto in = x.values<float>();
    const auto out = y->mutable_values<float>();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = map(in[i]);
  } else {
    const auto in = x.values<Half>();
    const auto out = y->mutable_values<Half>();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = Half(map(static_cast<float>(in[i])));
  }
  return {};
}

// Applies `map` to each element of a float or integer tensor.
template <class Map>
Result<> map_numbers(Call& call, Map map) {
  const Tensor& x = call.input(0);
  if (is_float(x.type())) return map_floats(call, map);
  if (x.type() == ElementType::boolean) return call.bad_type(0);
  WEFT_ASSIGN(Tensor * y, call.make(0, x.type(), x.shape()));
  if (call.shapes_only()) return {};
  with_type(x.type(), [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      const auto in = x.values<T>();
      const auto out = y->mutable_values<T>();
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = map(in[i]);
    }
  });
  return {};
}

float sigmoid_of(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float softplus_of(float x) { return std::max(x, 0.0f) + std::log1p(std::exp(-std::abs(x))); }

template <float (*map)(float)>
Result<> run_map(Call& call) {
  return map_floats(call, map);
}

Result<> run_abs(Call& call) {
  return map_numbers(call, []<class T>(T x) -> T {
    if constexpr (std::is_floating_point_v<T>)
      return std::abs(x);
    else if constexpr (std::is_signed_v<T>)
      return x < 0 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x)) : x;
    else
      return x;
  });
}
Result<> run_neg(Call& call) {
  return map_numbers(call, []<class T>(T x) -> T {
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
  });
}
Result<> run_sign(Call& call) {
  return map_numbers(call, []<class T>(T x) -> T {
    return static_cast<T>(x > T{0} ? 1 : x < T{0} ? -1 : 0);
  });
}
Result<> run_relu(Call& call) {
  return map_numbers(call, []<class T>(T x) -> T { return x < T{0} ? T{0} : x; });
}
Result<> run_leaky_relu(Call& call) {
  const float alpha = call.number("alpha", 0.01f);
  return map_floats(call, [alpha](float x) { return x < 0 ? alpha * x : x; });
}
Result<> run_elu(Call& call) {
  const float alpha = call.number("alpha", 1);
  return map_floats(call, [alpha](float x) { return x < 0 ? alpha * std::expm1(x) : x; });
}
Result<> run_selu(Call& call) {
  const float alpha = call.number("alpha", 1.67326319217681884765625f);
  const float gamma = call.number("gamma", 1.05070102214813232421875f);
  return map_floats(call, [=](float x) { return gamma * (x <= 0 ? alpha * std::expm1(x) : x); });
}
Result<> run_hard_sigmoid(Call& call) {
  const float alpha = call.number("alpha", 0.2f), beta = call.number("beta", 0.5f);
  return map_floats(call, [=](float x) { return std::clamp(alpha * x + beta, 0.0f, 1.0f); });
}
Result<> run_swish(Call& call) {
  const float alpha = call.number("alpha", 1);
  return map_floats(call, [alpha](float x) { return x * sigmoid_of(alpha * x); });
}
Result<> run_gelu(Call& call) {
  const std::string how = call.text("approximate", "none");
  if (how == "none")
    return map_floats(call,
                      [](float x) { return 0.5f * x * (1 + std::erf(x * 0.70710678118654752f)); });
  if (how != "tanh") return call.error("approximate is '{}', not none or tanh.", how);
  return map_floats(call, [](float x) {
    return 0.5f * x * (1 + std::tanh(0.79788456080286536f * (x + 0.044715f * x * x * x)));
  });
}

Result<> run_not(Call& call) {
  const Tensor& x = call.input(0);
  if (x.type() != ElementType::boolean) return call.bad_type(0);
  WEFT_ASSIGN(Tensor * y, call.make(0, x.type(), x.shape()));
  if (call.shapes_only()) return {};
  const auto in = x.values<Truth>();
  const auto out = y->mutable_values<Truth>();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = Truth(!static_cast<bool>(in[i]));
  return {};
}

// Clips to bounds, which are inputs since opset 11 and attributes before.
Result<> run_clip(Call& call) {
  const Tensor& x = call.input(0);
  if (x.type() == ElementType::boolean) return call.bad_type(0);
  for (const std::size_t i : {1, 2}) {
    const Tensor* bound = call.optional_input(i);
    if (bound != nullptr && bound->type() != x.type()) return call.bad_type(i);
    if (bound != nullptr && bound->count() != 1)
      return call.error("input {} must be a scalar, not of shape {}.", i,
                        to_string(bound->shape()));
  }
  WEFT_ASSIGN(Tensor * y, call.make(0, x.type(), x.shape()));
  if (call.shapes_only()) return {};
  with_type(x.type(), [&]<class T>() {
    using Compute = std::conditional_t<std::is_same_v<T, Half>, float, T>;
    if constexpr (!std::is_same_v<T, Truth>) {
      std::optional<Compute> low, high;
      if (const Tensor* given = call.optional_input(1))
        low = static_cast<Compute>(given->values<T>()[0]);
      if (const Tensor* given = call.optional_input(2))
        high = static_cast<Compute>(given->values<T>()[0]);
      if constexpr (std::is_floating_point_v<Compute>) {
        if (call.has("min")) low = call.number("min", 0);
        if (call.has("max")) high = call.number("max", 0);
      }
      const auto in = x.values<T>();
      const auto out = y->mutable_values<T>();
      for (std::size_t i = 0; i < out.size(); ++i) {
        auto value = static_cast<Compute>(in[i]);
        if (low && value < *low) value = *low;
        if (high && value > *high) value = *high;
        out[i] = static_cast<T>(value);
      }
    }
  });
  return {};
}

// Rounds towards zero and clamps to the range of To; NaN becomes 0.
template <class To>
To integer_from(double value) {
  if (!(value == value)) return 0;
  constexpr double low = static_cast<double>(std::numeric_limits<To>::min());
  constexpr double high = static_cast<double>(std::numeric_limits<To>::max());
  if (value <= low) return std::numeric_limits<To>::min();
  if (value >= high) return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

template <class To, class From>
To cast_element(From from) {
  if constexpr (std::is_same_v<From, Half>)
    return cast_element<To>(static_cast<float>(from));
  else if constexpr (std::is_same_v<From, Truth>)
    return cast_element<To>(static_cast<std::uint8_t>(static_cast<bool>(from) ? 1 : 0));
  else if constexpr (std::is_same_v<To, Truth>)
    return Truth(from != From{0});
  else if constexpr (std::is_same_v<To, Half>)
    return Half(from);
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return integer_from<To>(from);
  else
    return static_cast<To>(from);
}

Result<ElementType> cast_target(Call& call) {
  if (const auto* name =
          call.attribute<std::string>("to")) {  // The type was a text before opset 6.
    for (const auto& [word, number] : {std::pair{"FLOAT", 1},
                                       {"UINT8", 2},
                                       {"INT8", 3},
                                       {"UINT16", 4},
                                       {"INT16", 5},
                                       {"INT32", 6},
                                       {"INT64", 7},
                                       {"BOOL", 9},
                                       {"FLOAT16", 10},
                                       {"UINT32", 12}})
      if (*name == word) return element_type_from(number);
    return call.located(ErrorCode::unsupported,
                        weft::format("the type '{}' is not supported.", *name));
  }
  auto type = element_type_from(call.integer("to", 0));
  if (!type) return call.located(type.error().code, type.error().message);
  return *type;
}

Result<> run_cast(Call& call) {
  const Tensor& x = call.input(0);
  WEFT_ASSIGN(const ElementType to, cast_target(call));
  if (to == x.type()) {
    call.share(0, x);
    return {};
  }
  WEFT_ASSIGN(Tensor * y, call.make(0, to, x.shape()));
  if (call.shapes_only()) return {};
  with_type(x.type(), [&]<class From>() {
    with_type(to, [&]<class To>() {
      const auto in = x.values<From>();
      const auto out = y->mutable_values<To>();
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = cast_element<To>(in[i]);
    });
  });
  return {};
}

Result<> run_identity(Call& call) {
  call.share(0, call.input(0));
  return {};
}

// Copies the input, because inference drops no elements.
Result<> run_dropout(Call& call) {
  const Tensor* training = call.optional_input(2);
  const Tensor* ratio = call.optional_input(1);
  const bool drops =
      ratio == nullptr || !ratio->has_bytes() || ratio->count() != 1 || ratio->number(0) != 0;
  if (training != nullptr && drops) {
    WEFT_ASSIGN(const std::vector<std::int64_t> mode, call.integers_of(2));
    if (mode.size() == 1 && mode[0] != 0)
      return call.located(ErrorCode::unsupported, "its training mode is not supported.");
  }
  const Tensor& x = call.input(0);
  call.share(0, x);
  if (!call.wants(1)) return {};
  const bool is_old = call.opset() < 10;  // The mask had the type of the input before opset 10.
  WEFT_ASSIGN(Tensor * mask, call.make(1, is_old ? x.type() : ElementType::boolean, x.shape()));
  if (call.shapes_only()) return {};
  with_type(mask->type(), [&]<class T>() {
    for (T& value : mask->mutable_values<T>()) {
      if constexpr (std::is_same_v<T, Truth>)
        value = Truth(true);
      else
        value = static_cast<T>(1);
    }
  });
  return {};
}

}  // namespace

std::span<const Operator> unary_operators() {
  static constexpr Operator rows[] = {
      {"Abs", run_abs, 1, 1, 1, "consumed_inputs:I"},
      {"Cast", run_cast, 1, 1, 1, "to:is saturate:i round_mode:s"},
      {"Ceil", run_map<[](float x) { return std::ceil(x); }>, 1, 1, 1, "consumed_inputs:I"},
      {"Clip", run_clip, 1, 3, 1, "min:f max:f consumed_inputs:I"},
      {"Cos", run_map<[](float x) { return std::cos(x); }>},
      {"Dropout", run_dropout, 1, 3, 2, "ratio:f seed:i is_test:i consumed_inputs:I"},
      {"Elu", run_elu, 1, 1, 1, "alpha:f consumed_inputs:I"},
      {"Erf", run_map<[](float x) { return std::erf(x); }>},
      {"Exp", run_map<[](float x) { return std::exp(x); }>, 1, 1, 1, "consumed_inputs:I"},
      {"Floor", run_map<[](float x) { return std::floor(x); }>, 1, 1, 1, "consumed_inputs:I"},
      {"Gelu", run_gelu, 1, 1, 1, "approximate:s"},
      {"HardSigmoid", run_hard_sigmoid, 1, 1, 1, "alpha:f beta:f consumed_inputs:I"},
      {"HardSwish", run_map<[](float x) { return x * std::clamp(x / 6 + 0.5f, 0.0f, 1.0f); }>},
      {"Identity", run_identity},
      {"LeakyRelu", run_leaky_relu, 1, 1, 1, "alpha:f consumed_inputs:I"},
      {"Log", run_map<[](float x) { return std::log(x); }>, 1, 1, 1, "consumed_inputs:I"},
      {"Mish", run_map<[](float x) { return x * std::tanh(softplus_of(x)); }>},
      {"Neg", run_neg, 1, 1, 1, "consumed_inputs:I"},
      {"Not", run_not},
      {"Reciprocal", run_map<[](float x) { return 1 / x; }>, 1, 1, 1, "consumed_inputs:I"},
      {"Relu", run_relu, 1, 1, 1, "consumed_inputs:I"},
      {"Round", run_map<[](float x) { return std::nearbyint(x); }>},
      {"Selu", run_selu, 1, 1, 1, "alpha:f gamma:f consumed_inputs:I"},
      {"Sigmoid", run_map<sigmoid_of>, 1, 1, 1, "consumed_inputs:I"},
      {"Sign", run_sign},
      {"Sin", run_map<[](float x) { return std::sin(x); }>},
      {"Softplus", run_map<softplus_of>},
      {"Sqrt", run_map<[](float x) { return std::sqrt(x); }>, 1, 1, 1, "consumed_inputs:I"},
      {"Swish", run_swish, 1, 1, 1, "alpha:f"},
      {"Tanh", run_map<[](float x) { return std::tanh(x); }>, 1, 1, 1, "consumed_inputs:I"},
  };
  return rows;
}

}  // namespace weft::onnx
