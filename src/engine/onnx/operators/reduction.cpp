// Operators that reduce many elements to one: sums and similar, the index of the largest, and
// running sums.
#include <cmath>
#include <limits>

#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

// Returns the dimensions that are reduced. The axes are an input since opset 13 (ReduceSum) or 18,
// and an attribute before.
Result<std::vector<bool>> reduced_axes(const Call& call, const Tensor& x) {
  std::vector<std::int64_t> axes = call.integers("axes");
  if (call.optional_input(1) != nullptr) {
    WEFT_ASSIGN(axes, call.integers_of(1));
  }
  std::vector<bool> reduced(x.shape().size(),
                            axes.empty() && call.integer("noop_with_empty_axes", 0) == 0);
  for (const std::int64_t given : axes) {
    WEFT_ASSIGN(const std::int64_t axis, call.axis(given, x.rank()));
    reduced[static_cast<std::size_t>(axis)] = true;
  }
  return reduced;
}

struct Total {  // Sums map(x) and returns finish(sum, count).
  static double start() { return 0; }
  static double step(double sum, double x) { return sum + x; }
  static double finish(double sum, double) { return sum; }
};
struct Average : Total {
  static double finish(double sum, double count) { return sum / count; }
};
struct Magnitudes : Total {
  static double step(double sum, double x) { return sum + std::abs(x); }
};
struct Squares : Total {
  static double step(double sum, double x) { return sum + x * x; }
};
struct Length : Squares {
  static double finish(double sum, double) { return std::sqrt(sum); }
};
struct LogTotal : Total {
  static double finish(double sum, double) { return std::log(sum); }
};
struct LogExponentials : Total {
  // Powers of e are summed relative to the largest element, because the power of a large element
  // would be infinite.
  static constexpr bool shifts = true;
  static double step(double sum, double x) { return sum + std::exp(x); }
  static double finish(double sum, double) { return std::log(sum); }
};
template <class Kind>
concept Shifts = requires { Kind::shifts; };
struct Product : Total {
  static double start() { return 1; }
  static double step(double product, double x) { return product * x; }
};

// Adds i64 numbers with wrap-around, because a double would lose their low bits.
template <class Kind>
std::int64_t integer_step(std::int64_t sum, std::int64_t x) {
  const auto a = static_cast<std::uint64_t>(sum), b = static_cast<std::uint64_t>(x);
  if constexpr (std::is_same_v<Kind, Product>)
    return static_cast<std::int64_t>(a * b);
  else if constexpr (std::is_base_of_v<Squares, Kind>)
    return static_cast<std::int64_t>(a + b * b);
  else if constexpr (std::is_same_v<Kind, Magnitudes>)
    return static_cast<std::int64_t>(x < 0 ? a - b : a + b);
  else
    return static_cast<std::int64_t>(a + b);
}

struct Reduced {
  Shape shape;          // The shape of the output.
  Shape kept;           // Shape of the input with 1 for reduced dimensions.
  std::int64_t factor;  // Number of elements that are reduced to one.
};
Result<Reduced> reduced_shape(const Call& call, const Tensor& x) {
  WEFT_ASSIGN(const std::vector<bool> reduced, reduced_axes(call, x));
  const bool keep = call.integer("keepdims", 1) != 0;
  Reduced out{.shape = {}, .kept = x.shape(), .factor = 1};
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (reduced[i]) {
      out.factor *= x.shape()[i];
      out.kept[i] = 1;
    }
    if (keep || !reduced[i]) out.shape.push_back(out.kept[i]);
  }
  return out;
}

template <class Kind>
Result<> run_reduction(Call& call) {
  const Tensor& x = call.input(0);
  if (x.type() == ElementType::boolean) return call.bad_type(0);
  WEFT_ASSIGN(Reduced reduced, reduced_shape(call, x));
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), reduced.shape));
  if (call.shapes_only()) return {};
  const Shape to = broadcast_strides(reduced.kept, x.shape());
  with_type(x.type(), [&]<class T>() {
    if constexpr (!std::is_same_v<T, Truth>) {
      const auto in = x.values<T>();
      const auto result = out->mutable_values<T>();
      constexpr bool is_integer = std::is_integral_v<T>;
      using Sum = std::conditional_t<is_integer, std::int64_t, double>;
      std::vector<Sum> sums(result.size(), static_cast<Sum>(Kind::start()));
      std::vector<double> shifts;
      if constexpr (Shifts<Kind> && !is_integer) {
        shifts.assign(result.size(), -std::numeric_limits<double>::infinity());
        walk<1>(x.shape(), {to}, {0}, [&](std::int64_t i, const std::array<std::int64_t, 1>& at) {
          double& largest = shifts[static_cast<std::size_t>(at[0])];
          const double value = static_cast<float>(in[static_cast<std::size_t>(i)]);
          largest = std::max(largest, value);
        });
        // A sum with an infinite element is not shifted, because infinity minus infinity is NaN.
        for (double& largest : shifts)
          if (!std::isfinite(largest)) largest = 0;
      }
      walk<1>(x.shape(), {to}, {0}, [&](std::int64_t i, const std::array<std::int64_t, 1>& at) {
        Sum& sum = sums[static_cast<std::size_t>(at[0])];
        const T value = in[static_cast<std::size_t>(i)];
        if constexpr (is_integer)
          sum = integer_step<Kind>(sum, static_cast<std::int64_t>(value));
        else if constexpr (Shifts<Kind>)
          sum =
              Kind::step(sum, static_cast<float>(value) - shifts[static_cast<std::size_t>(at[0])]);
        else
          sum = Kind::step(sum, static_cast<float>(value));
      });
      for (std::size_t i = 0; i < result.size(); ++i) {
        if constexpr (is_integer) {
          if constexpr (std::is_same_v<Kind, Average>)
            result[i] = static_cast<T>(reduced.factor == 0 ? 0 : sums[i] / reduced.factor);
          else if constexpr (std::is_same_v<Kind, Length>)
            result[i] = static_cast<T>(std::sqrt(static_cast<double>(sums[i])));
          else
            result[i] = static_cast<T>(sums[i]);
        } else {
          double value = Kind::finish(sums[i], static_cast<double>(reduced.factor));
          if constexpr (Shifts<Kind>) value += shifts[i];
          result[i] = static_cast<T>(static_cast<float>(value));
        }
      }
    }
  });
  return {};
}

template <bool largest>
Result<> run_extreme(Call& call) {
  const Tensor& x = call.input(0);
  WEFT_ASSIGN(Reduced reduced, reduced_shape(call, x));
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), reduced.shape));
  if (call.shapes_only()) return {};
  const Shape to = broadcast_strides(reduced.kept, x.shape());
  with_type(x.type(), [&]<class T>() {
    using C = std::conditional_t<std::is_same_v<T, Half>, float,
                                 std::conditional_t<std::is_same_v<T, Truth>, bool, T>>;
    using Limits = std::numeric_limits<C>;
    C start = largest ? Limits::lowest() : Limits::max();
    if constexpr (std::is_floating_point_v<C>)
      start = largest ? -Limits::infinity() : Limits::infinity();
    const auto in = x.values<T>();
    const auto result = out->mutable_values<T>();
    std::fill(result.begin(), result.end(), static_cast<T>(start));
    walk<1>(x.shape(), {to}, {0}, [&](std::int64_t i, const std::array<std::int64_t, 1>& at) {
      T& best = result[static_cast<std::size_t>(at[0])];
      const C value = static_cast<C>(in[static_cast<std::size_t>(i)]), kept = static_cast<C>(best);
      if (kept != kept) return;  // NaN stays NaN.
      if (value != value || (largest ? value > kept : value < kept)) best = static_cast<T>(value);
    });
  });
  return {};
}

template <bool largest>
Result<> run_place(Call& call) {
  const Tensor& x = call.input(0);
  if (x.type() == ElementType::boolean) return call.bad_type(0);
  WEFT_ASSIGN(const std::int64_t axis, call.axis(call.integer("axis", 0), x.rank()));
  const AxisView view(x.shape(), axis);
  if (view.length == 0) return call.error("the axis {} has no elements to choose from.", axis);
  Shape shape = x.shape();
  if (call.integer("keepdims", 1) != 0)
    shape[static_cast<std::size_t>(axis)] = 1;
  else
    shape.erase(shape.begin() + axis);
  WEFT_ASSIGN(Tensor * out, call.make(0, ElementType::i64, std::move(shape)));
  if (call.shapes_only()) return {};
  const bool last = call.integer("select_last_index", 0) != 0;
  const auto result = out->mutable_values<std::int64_t>();
  with_type(x.type(), [&]<class T>() {
    using C = std::conditional_t<std::is_same_v<T, Half>, float, T>;
    if constexpr (!std::is_same_v<T, Truth>) {
      const auto in = x.values<T>();
      for (std::int64_t b = 0; b < view.before; ++b)
        for (std::int64_t a = 0; a < view.after; ++a) {
          std::int64_t best = 0;
          const auto at = [&](std::int64_t k) {
            return static_cast<C>(
                in[static_cast<std::size_t>((b * view.length + k) * view.after + a)]);
          };
          for (std::int64_t k = 1; k < view.length; ++k) {
            const C value = at(k), kept = at(best);
            if ((largest ? value > kept : value < kept) || (last && value == kept)) best = k;
          }
          result[static_cast<std::size_t>(b * view.after + a)] = best;
        }
    }
  });
  return {};
}

Result<> run_running_sum(Call& call) {
  const Tensor& x = call.input(0);
  if (x.type() == ElementType::boolean) return call.bad_type(0);
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), x.shape()));
  if (call.shapes_only()) return {};
  WEFT_ASSIGN(const std::vector<std::int64_t> axes, call.integers_of(1));
  if (axes.size() != 1) return call.error("the axis must be one number.");
  WEFT_ASSIGN(const std::int64_t axis, call.axis(axes[0], x.rank()));
  const AxisView view(x.shape(), axis);
  const bool exclusive = call.integer("exclusive", 0) != 0;
  const bool reverse = call.integer("reverse", 0) != 0;
  with_type(x.type(), [&]<class T>() {
    if constexpr (!std::is_same_v<T, Truth>) {
      using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
      using C = std::conditional_t<std::is_same_v<T, Half>, float, T>;
      const auto in = x.values<T>();
      const auto result = out->mutable_values<T>();
      for (std::int64_t b = 0; b < view.before; ++b)
        for (std::int64_t a = 0; a < view.after; ++a) {
          Sum sum = 0;
          for (std::int64_t step = 0; step < view.length; ++step) {
            const std::int64_t k = reverse ? view.length - 1 - step : step;
            const auto i = static_cast<std::size_t>((b * view.length + k) * view.after + a);
            const Sum before = sum;
            sum += static_cast<Sum>(static_cast<C>(in[i]));
            result[i] = static_cast<T>(static_cast<C>(exclusive ? before : sum));
          }
        }
    }
  });
  return {};
}

}  // namespace

std::span<const Operator> reduction_operators() {
  static constexpr std::string_view axes = "axes:I keepdims:i noop_with_empty_axes:i";
  static constexpr std::string_view axis = "axis:i keepdims:i select_last_index:i";
  static constexpr Operator rows[] = {
      {"ArgMax", run_place<true>, 1, 1, 1, axis},
      {"ArgMin", run_place<false>, 1, 1, 1, axis},
      {"CumSum", run_running_sum, 2, 2, 1, "exclusive:i reverse:i"},
      {"ReduceL1", run_reduction<Magnitudes>, 1, 2, 1, axes},
      {"ReduceL2", run_reduction<Length>, 1, 2, 1, axes},
      {"ReduceLogSum", run_reduction<LogTotal>, 1, 2, 1, axes},
      {"ReduceLogSumExp", run_reduction<LogExponentials>, 1, 2, 1, axes},
      {"ReduceMax", run_extreme<true>, 1, 2, 1, axes},
      {"ReduceMean", run_reduction<Average>, 1, 2, 1, axes},
      {"ReduceMin", run_extreme<false>, 1, 2, 1, axes},
      {"ReduceProd", run_reduction<Product>, 1, 2, 1, axes},
      {"ReduceSum", run_reduction<Total>, 1, 2, 1, axes},
      {"ReduceSumSquare", run_reduction<Squares>, 1, 2, 1, axes},
  };
  return rows;
}

}  // namespace weft::onnx
