// Pooling operators: a window of one channel becomes one element.
#include <limits>

#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/walk.h"
#include "engine/onnx/operators/window.h"

namespace weft::onnx {
namespace {

Shape pooled_shape(const Tensor& x, const Window& window) {
  Shape shape = {x.shape()[0], x.shape()[1]};
  shape.insert(shape.end(), window.output.begin(), window.output.end());
  return shape;
}

// Calls use(place, padded) for each element of the window of output `o`. `place` is the index of
// the element in the plane, or -1 if the element is outside of the input; `padded` is true if the
// element lies in the padding and not beyond the padding.
template <class Use>
void each_in_window(const Window& w, std::int64_t o, Use use) {
  const std::int64_t kernel_plane = element_count(w.kernel);
  for (std::int64_t k = 0; k < kernel_plane; ++k) {
    std::int64_t rest = o, rest_kernel = k, place = 0, stride = 1;
    bool inside = true, padded = true;
    for (std::size_t d = w.input.size(); d-- > 0;) {
      const std::int64_t at = rest % w.output[d] * w.strides[d] - w.pads_before[d] +
                              rest_kernel % w.kernel[d] * w.dilations[d];
      rest /= w.output[d];
      rest_kernel /= w.kernel[d];
      inside = inside && at >= 0 && at < w.input[d];
      padded = padded && at < w.input[d] + w.pads_after[d];
      place += at * stride;
      stride *= w.input[d];
    }
    use(inside ? place : -1, padded);
  }
}

Result<> run_average_pool(Call& call) {
  const Tensor& x = call.input(0);
  if (!is_float(x.type())) return call.bad_type(0);
  WEFT_ASSIGN(const Window window, plan_pool(call, x));
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), pooled_shape(x, window)));
  if (call.shapes_only()) return {};
  const bool with_padding = call.integer("count_include_pad", 0) != 0;
  const std::vector<float> in = floats_of(x);
  std::vector<float> values(static_cast<std::size_t>(out->count()));
  const std::int64_t in_plane = element_count(window.input);
  const std::int64_t out_plane = element_count(window.output);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto plane = static_cast<std::int64_t>(i) / out_plane;
    double sum = 0;
    std::int64_t count = 0;
    each_in_window(window, static_cast<std::int64_t>(i) % out_plane,
                   [&](std::int64_t place, bool padded) {
                     if (place >= 0) sum += in[static_cast<std::size_t>(plane * in_plane + place)];
                     if (place >= 0 || (with_padding && padded)) ++count;
                   });
    values[i] = count == 0 ? 0 : static_cast<float>(sum / static_cast<double>(count));
  }
  store_floats(*out, values);
  return {};
}

Result<> run_max_pool(Call& call) {
  const Tensor& x = call.input(0);
  if (!is_float(x.type()) && x.type() != ElementType::u8 && x.type() != ElementType::i8)
    return call.bad_type(0);
  WEFT_ASSIGN(const Window window, plan_pool(call, x));
  const Shape shape = pooled_shape(x, window);
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), shape));
  Tensor* places = nullptr;
  if (call.wants(1)) {
    WEFT_ASSIGN(places, call.make(1, ElementType::i64, shape));
  }
  if (call.shapes_only()) return {};
  const bool by_column = call.integer("storage_order", 0) != 0;
  const std::int64_t in_plane = element_count(window.input);
  const std::int64_t out_plane = element_count(window.output);
  // The index of an element counts over the whole tensor. With by_column it counts the spatial
  // dimensions in reverse order.
  const auto index_of = [&](std::int64_t plane, std::int64_t place) {
    if (!by_column) return plane * in_plane + place;
    std::int64_t index = 0, rest = place, stride = in_plane;
    for (std::size_t d = window.input.size(); d-- > 0;) {
      stride /= window.input[d];
      index += rest % window.input[d] * stride;
      rest /= window.input[d];
    }
    return plane * in_plane + index;
  };
  with_type(x.type(), [&]<class T>() {
    using C = std::conditional_t<std::is_same_v<T, Half>, float, T>;
    if constexpr (!std::is_same_v<T, Truth>) {
      const auto in = x.values<T>();
      const auto result = out->mutable_values<T>();
      for (std::size_t i = 0; i < result.size(); ++i) {
        const auto plane = static_cast<std::int64_t>(i) / out_plane;
        std::int64_t best = -1;
        C largest = std::numeric_limits<C>::lowest();
        each_in_window(window, static_cast<std::int64_t>(i) % out_plane,
                       [&](std::int64_t place, bool) {
                         if (place < 0) return;
                         const C value =
                             static_cast<C>(in[static_cast<std::size_t>(plane * in_plane + place)]);
                         if (best >= 0 && !(value > largest)) return;
                         best = place;
                         largest = value;
                       });
        result[i] = static_cast<T>(largest);
        if (places != nullptr)
          places->mutable_values<std::int64_t>()[i] = best < 0 ? -1 : index_of(plane, best);
      }
    }
  });
  return {};
}

template <bool average>
Result<> run_global_pool(Call& call) {
  const Tensor& x = call.input(0);
  if (!is_float(x.type())) return call.bad_type(0);
  if (x.rank() < 3)
    return call.error("its input must have spatial dimensions, not shape {}.",
                      to_string(x.shape()));
  Shape shape(x.shape().size(), 1);
  shape[0] = x.shape()[0];
  shape[1] = x.shape()[1];
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), shape));
  if (call.shapes_only()) return {};
  const std::vector<float> in = floats_of(x);
  std::vector<float> values(static_cast<std::size_t>(out->count()));
  const std::size_t plane = values.empty() ? 0 : in.size() / values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    double sum = 0;
    float largest = -std::numeric_limits<float>::infinity();
    for (std::size_t k = 0; k < plane; ++k) {
      sum += in[i * plane + k];
      largest = std::max(largest, in[i * plane + k]);
    }
    values[i] = average ? static_cast<float>(sum / static_cast<double>(plane)) : largest;
  }
  store_floats(*out, values);
  return {};
}

}  // namespace

std::span<const Operator> pooling_operators() {
  static constexpr Operator rows[] = {
      {"AveragePool", run_average_pool, 1, 1, 1,
       "auto_pad:s ceil_mode:i count_include_pad:i dilations:I kernel_shape:I pads:I strides:I"},
      {"GlobalAveragePool", run_global_pool<true>},
      {"GlobalMaxPool", run_global_pool<false>},
      {"MaxPool", run_max_pool, 1, 1, 2,
       "auto_pad:s ceil_mode:i dilations:I kernel_shape:I pads:I storage_order:i strides:I"},
  };
  return rows;
}

}  // namespace weft::onnx
