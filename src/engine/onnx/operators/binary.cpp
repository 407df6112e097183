// Elementwise operators of two or more tensors, which broadcast to one shape.
#include <cmath>
#include <limits>

#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

// Aligns the second operand. Before opset 7 it was aligned at `axis`, and broadcast only if the
// attribute `broadcast` was set.
Tensor aligned_operand(const Call& call, const Tensor& a, const Tensor& b) {
  if (call.opset() >= 7 || call.integer("broadcast", 0) == 0) return b;
  std::int64_t axis = call.integer("axis", a.rank() - b.rank());
  if (axis < 0) axis += a.rank();
  Shape shape = b.shape();
  while (static_cast<std::int64_t>(shape.size()) + axis < a.rank()) shape.push_back(1);
  return b.reshaped(std::move(shape));
}

Result<Shape> common_shape(const Call& call, const Tensor& a, const Tensor& b) {
  if (auto shape = broadcast(a.shape(), b.shape())) return *shape;
  return call.error("the shapes {} and {} cannot be broadcast to one.", to_string(a.shape()),
                    to_string(b.shape()));
}

// Computes out[i] = op(a[i], b[i]). T, U and V are the element types of the three tensors.
template <class T, class U, class V, class Op>
void apply(const Tensor& a, const Tensor& b, Tensor& out, Op op) {
  const auto left = a.values<T>();
  const auto right = b.values<U>();
  const auto result = out.mutable_values<V>();
  if (a.shape() == b.shape()) {
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = op(left[i], right[i]);
    return;
  }
  walk<2>(out.shape(),
          {broadcast_strides(a.shape(), out.shape()), broadcast_strides(b.shape(), out.shape())},
          {0, 0}, [&](std::int64_t i, const std::array<std::int64_t, 2>& from) {
            result[static_cast<std::size_t>(i)] = op(left[static_cast<std::size_t>(from[0])],
                                                     right[static_cast<std::size_t>(from[1])]);
          });
}

// Integer arithmetic wraps around, as on all processors and GPUs.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

struct Adds {
  template <class T>
  static T compute(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct Subtracts {
  template <class T>
  static T compute(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a - b;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
struct Multiplies {
  template <class T>
  static T compute(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
struct Divides {  // Rounds integers towards zero; x / 0 is 0.
  template <class T>
  static T compute(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a / b;
    else if (b == 0)
      return 0;
    else if constexpr (std::is_signed_v<T>) {
      if (b == -1) return static_cast<T>(0 - static_cast<Wrapping<T>>(a));
      return static_cast<T>(a / b);
    } else
      return static_cast<T>(a / b);
  }
};
struct Larger {
  template <class T>
  static T compute(T a, T b) {
    if (a != a) return a;  // NaN stays NaN.
    return b > a || b != b ? b : a;
  }
};
struct Smaller {
  template <class T>
  static T compute(T a, T b) {
    if (a != a) return a;
    return b < a || b != b ? b : a;
  }
};
struct Modulo {  // The result has the sign of the divisor.
  template <class T>
  static T compute(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fmod(a, b);
    else if (b == 0)
      return 0;
    else if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
      const T rest = static_cast<T>(a % b);
      return rest != 0 && ((rest < 0) != (b < 0)) ? static_cast<T>(rest + b) : rest;
    } else
      return static_cast<T>(a % b);
  }
};
struct Remainder {  // The result has the sign of the dividend.
  template <class T>
  static T compute(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fmod(a, b);
    else if (b == 0)
      return 0;
    else if constexpr (std::is_signed_v<T>)
      return b == -1 ? T{0} : static_cast<T>(a % b);
    else
      return static_cast<T>(a % b);
  }
};

template <class Op>
void combine(const Tensor& a, const Tensor& b, Tensor& out) {
  with_type(a.type(), [&]<class T>() {
    if constexpr (std::is_same_v<T, Half>)
      apply<T, T, T>(a, b, out, [](Half x, Half y) {
        return Half(Op::template compute<float>(static_cast<float>(x), static_cast<float>(y)));
      });
    else if constexpr (!std::is_same_v<T, Truth>)
      apply<T, T, T>(a, b, out, [](T x, T y) { return Op::template compute<T>(x, y); });
  });
}

template <class Op>
Result<> run_arithmetic(Call& call) {
  const Tensor& a = call.input(0);
  const Tensor b = aligned_operand(call, a, call.input(1));
  if (a.type() == ElementType::boolean) return call.bad_type(0);
  if (b.type() != a.type()) return call.bad_type(1);
  WEFT_ASSIGN(Shape shape, common_shape(call, a, b));
  WEFT_ASSIGN(Tensor * out, call.make(0, a.type(), std::move(shape)));
  if (!call.shapes_only()) combine<Op>(a, b, *out);
  return {};
}

Result<> run_mod(Call& call) {
  if (call.integer("fmod", 0) != 0) return run_arithmetic<Remainder>(call);
  if (is_float(call.input(0).type()))
    return call.error("fmod must be 1 for elements of type {}.", to_string(call.input(0).type()));
  return run_arithmetic<Modulo>(call);
}

// Folds any number of operands with Op.
template <class Op, bool mean>
Result<> run_fold(Call& call) {
  const Tensor& first = call.input(0);
  if (first.type() == ElementType::boolean) return call.bad_type(0);
  Shape shape = first.shape();
  for (std::size_t i = 1; i < call.input_count(); ++i) {
    if (call.input(i).type() != first.type()) return call.bad_type(i);
    auto wider = broadcast(shape, call.input(i).shape());
    if (!wider)
      return call.error("the shapes {} and {} cannot be broadcast to one.", to_string(shape),
                        to_string(call.input(i).shape()));
    shape = std::move(*wider);
  }
  WEFT_ASSIGN(Tensor * out, call.make(0, first.type(), shape));
  if (call.shapes_only()) return {};
  // The result begins as the first operand, broadcast to the whole shape; then the other operands
  // are applied to it one by one.
  with_type(first.type(), [&]<class T>() {
    const auto in = first.values<T>();
    const auto result = out->mutable_values<T>();
    walk<1>(shape, {broadcast_strides(first.shape(), shape)}, {0},
            [&](std::int64_t i, const std::array<std::int64_t, 1>& from) {
              result[static_cast<std::size_t>(i)] = in[static_cast<std::size_t>(from[0])];
            });
  });
  for (std::size_t i = 1; i < call.input_count(); ++i) {
    WEFT_ASSIGN(Tensor next, Tensor::create(first.type(), shape));
    combine<Op>(*out, call.input(i), next);
    *out = std::move(next);
  }
  if constexpr (mean) {
    const auto count = static_cast<float>(call.input_count());
    if (!is_float(first.type())) return call.bad_type(0);
    std::vector<float> values = floats_of(*out);
    for (float& value : values) value /= count;
    store_floats(*out, values);
  }
  return {};
}

template <class Op>
Result<> run_comparison(Call& call) {
  const Tensor& a = call.input(0);
  const Tensor b = aligned_operand(call, a, call.input(1));
  if (b.type() != a.type()) return call.bad_type(1);
  WEFT_ASSIGN(Shape shape, common_shape(call, a, b));
  WEFT_ASSIGN(Tensor * out, call.make(0, ElementType::boolean, std::move(shape)));
  if (call.shapes_only()) return {};
  with_type(a.type(), [&]<class T>() {
    apply<T, T, Truth>(a, b, *out, [](T x, T y) {
      if constexpr (std::is_same_v<T, Half>)
        return Truth(Op{}(static_cast<float>(x), static_cast<float>(y)));
      else if constexpr (std::is_same_v<T, Truth>)
        return Truth(Op{}(x.bits, y.bits));
      else
        return Truth(Op{}(x, y));
    });
  });
  return {};
}

template <class Op>
Result<> run_logic(Call& call) {
  for (const std::size_t i : {0, 1})
    if (call.input(i).type() != ElementType::boolean) return call.bad_type(i);
  const Tensor& a = call.input(0);
  const Tensor b = aligned_operand(call, a, call.input(1));
  WEFT_ASSIGN(Shape shape, common_shape(call, a, b));
  WEFT_ASSIGN(Tensor * out, call.make(0, ElementType::boolean, std::move(shape)));
  if (call.shapes_only()) return {};
  apply<Truth, Truth, Truth>(a, b, *out,
                             [](Truth x, Truth y) { return Truth(Op{}(x.bits, y.bits)); });
  return {};
}
struct BothTrue {
  bool operator()(std::uint8_t a, std::uint8_t b) const { return (a & b) != 0; }
};
struct OneTrue {
  bool operator()(std::uint8_t a, std::uint8_t b) const { return (a | b) != 0; }
};

template <class T>
T power_of_integers(T base, std::int64_t exponent) {
  if (exponent < 0) {  // The result is 1 / base^n, rounded towards zero.
    if (base == 1) return 1;
    if constexpr (std::is_signed_v<T>)
      if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  Wrapping<T> result = 1;
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number, not a character.
  auto factor = static_cast<Wrapping<T>>(base);
  for (; exponent > 0; exponent >>= 1, factor *= factor)
    if ((exponent & 1) != 0) result *= factor;
  return static_cast<T>(result);
}

template <class T>
T whole_number(double value) {
  if (!(value == value)) return 0;
  if (value >= static_cast<double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

template <class T>
T power_of_floats(T base, float exponent) {
  if constexpr (std::is_integral_v<T>)
    return whole_number<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  else
    return static_cast<T>(std::pow(static_cast<float>(base), exponent));
}

template <class From, class To>
void convert(const Tensor& from, Tensor& to) {
  const auto in = from.values<From>();
  const auto out = to.mutable_values<To>();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<To>(in[i]);
}

// Computes powers; the result has the type of the base.
Result<> run_pow(Call& call) {
  const Tensor& a = call.input(0);
  const Tensor b = aligned_operand(call, a, call.input(1));
  if (a.type() == ElementType::boolean) return call.bad_type(0);
  if (b.type() == ElementType::boolean) return call.bad_type(1);
  WEFT_ASSIGN(Shape shape, common_shape(call, a, b));
  WEFT_ASSIGN(Tensor * out, call.make(0, a.type(), std::move(shape)));
  if (call.shapes_only()) return {};
  // Exponents are converted to i64 if base and exponent are integers, else to f32, because a loop
  // for each pair of types would make 144 loops.
  const bool integers = !is_float(a.type()) && !is_float(b.type());
  WEFT_ASSIGN(Tensor exponents,
              Tensor::create(integers ? ElementType::i64 : ElementType::f32, b.shape()));
  with_type(b.type(), [&]<class U>() {
    if constexpr (std::is_integral_v<U>) {
      if (integers) {
        convert<U, std::int64_t>(b, exponents);
        return;
      }
    }
    if constexpr (!std::is_same_v<U, Truth>) convert<U, float>(b, exponents);
  });
  with_type(a.type(), [&]<class T>() {
    if constexpr (!std::is_same_v<T, Truth>) {
      if constexpr (std::is_integral_v<T>) {
        if (integers) {
          apply<T, std::int64_t, T>(a, exponents, *out, power_of_integers<T>);
          return;
        }
      }
      apply<T, float, T>(a, exponents, *out, power_of_floats<T>);
    }
  });
  return {};
}

Result<> run_prelu(Call& call) {
  const Tensor& x = call.input(0);
  Tensor slope = call.input(1);
  if (slope.type() != x.type()) return call.bad_type(1);
  if (x.type() == ElementType::boolean) return call.bad_type(0);
  // A slope was one number per channel before opset 7.
  if (call.opset() < 7 && slope.rank() == 1 && slope.count() > 1) {
    Shape shape = slope.shape();
    while (static_cast<std::int64_t>(shape.size()) + 1 < x.rank()) shape.push_back(1);
    slope = slope.reshaped(std::move(shape));
  }
  const auto shape = broadcast(x.shape(), slope.shape());
  if (!shape || *shape != x.shape())
    return call.error("the slope of shape {} does not broadcast to {}.", to_string(slope.shape()),
                      to_string(x.shape()));
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), x.shape()));
  if (call.shapes_only()) return {};
  with_type(x.type(), [&]<class T>() {
    if constexpr (!std::is_same_v<T, Truth>)
      apply<T, T, T>(x, slope, *out, [](T a, T b) {
        using C = std::conditional_t<std::is_same_v<T, Half>, float, T>;
        const C value = static_cast<C>(a);
        return value < C{0} ? static_cast<T>(Multiplies::compute<C>(value, static_cast<C>(b))) : a;
      });
  });
  return {};
}

Result<> run_where(Call& call) {
  const Tensor &condition = call.input(0), &a = call.input(1), &b = call.input(2);
  if (condition.type() != ElementType::boolean) return call.bad_type(0);
  if (a.type() != b.type()) return call.bad_type(2);
  WEFT_ASSIGN(Shape shape, common_shape(call, a, b));
  const auto wider = broadcast(shape, condition.shape());
  if (!wider)
    return call.error("the condition of shape {} cannot be broadcast with {}.",
                      to_string(condition.shape()), to_string(shape));
  WEFT_ASSIGN(Tensor * out, call.make(0, a.type(), *wider));
  if (call.shapes_only()) return {};
  with_type(a.type(), [&]<class T>() {
    const auto chosen = condition.values<Truth>();
    const auto left = a.values<T>(), right = b.values<T>();
    const auto result = out->mutable_values<T>();
    walk<3>(*wider,
            {broadcast_strides(condition.shape(), *wider), broadcast_strides(a.shape(), *wider),
             broadcast_strides(b.shape(), *wider)},
            {0, 0, 0}, [&](std::int64_t i, const std::array<std::int64_t, 3>& from) {
              result[static_cast<std::size_t>(i)] =
                  static_cast<bool>(chosen[static_cast<std::size_t>(from[0])])
                      ? left[static_cast<std::size_t>(from[1])]
                      : right[static_cast<std::size_t>(from[2])];
            });
  });
  return {};
}

}  // namespace

std::span<const Operator> binary_operators() {
  static constexpr std::string_view old = "axis:i broadcast:i consumed_inputs:I";
  static constexpr Operator rows[] = {
      {"Add", run_arithmetic<Adds>, 2, 2, 1, old},
      {"And", run_logic<BothTrue>, 2, 2, 1, old},
      {"Div", run_arithmetic<Divides>, 2, 2, 1, old},
      {"Equal", run_comparison<std::equal_to<>>, 2, 2, 1, old},
      {"Greater", run_comparison<std::greater<>>, 2, 2, 1, old},
      {"GreaterOrEqual", run_comparison<std::greater_equal<>>, 2, 2},
      {"Less", run_comparison<std::less<>>, 2, 2, 1, old},
      {"LessOrEqual", run_comparison<std::less_equal<>>, 2, 2},
      {"Max", run_fold<Larger, false>, 1, any_number, 1, "consumed_inputs:I"},
      {"Mean", run_fold<Adds, true>, 1, any_number, 1, "consumed_inputs:I"},
      {"Min", run_fold<Smaller, false>, 1, any_number, 1, "consumed_inputs:I"},
      {"Mod", run_mod, 2, 2, 1, "fmod:i"},
      {"Mul", run_arithmetic<Multiplies>, 2, 2, 1, old},
      {"Or", run_logic<OneTrue>, 2, 2, 1, old},
      {"PRelu", run_prelu, 2, 2, 1, "consumed_inputs:I"},
      {"Pow", run_pow, 2, 2, 1, old},
      {"Sub", run_arithmetic<Subtracts>, 2, 2, 1, old},
      {"Sum", run_fold<Adds, false>, 1, any_number, 1, "consumed_inputs:I"},
      {"Where", run_where, 3, 3},
      {"Xor", run_logic<std::not_equal_to<>>, 2, 2, 1, old},
  };
  return rows;
}

}  // namespace weft::onnx
