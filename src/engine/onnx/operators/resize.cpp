#include "engine/onnx/operators/resize.h"

#include <algorithm>
#include <cmath>

#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

enum class Coordinates {
  half_pixel,
  half_pixel_symmetric,
  pytorch_half_pixel,
  half_pixel_for_nn,
  align_corners,
  asymmetric,
  crop_and_resize,
};

struct ResizeSettings {
  std::string mode;
  Coordinates coordinates = Coordinates::half_pixel;
  std::string nearest;
  float cubic_a = -0.75f;
  bool antialias = false;
  bool exclude_outside = false;
};

Result<ResizeSettings> read_settings(const Call& call) {
  ResizeSettings settings;
  const bool is_old = call.node().op == "Upsample" || call.opset() < 11;
  settings.mode = call.text("mode", "nearest");
  if (settings.mode == "bilinear") settings.mode = "linear";
  if (settings.mode != "nearest" && settings.mode != "linear" && settings.mode != "cubic")
    return call.error("its mode '{}' is not nearest, linear or cubic.", settings.mode);
  const std::string coordinates =
      call.text("coordinate_transformation_mode", is_old ? "asymmetric" : "half_pixel");
  const std::pair<std::string_view, Coordinates> known[] = {
      {"half_pixel", Coordinates::half_pixel},
      {"half_pixel_symmetric", Coordinates::half_pixel_symmetric},
      {"pytorch_half_pixel", Coordinates::pytorch_half_pixel},
      // This value exists only in opsets 11 and 12.
      {"tf_half_pixel_for_nn", Coordinates::half_pixel_for_nn},
      {"align_corners", Coordinates::align_corners},
      {"asymmetric", Coordinates::asymmetric},
      {"tf_crop_and_resize", Coordinates::crop_and_resize}};
  const auto found =
      std::ranges::find(known, coordinates, [](const auto& row) { return row.first; });
  if (found == std::end(known))
    return call.error("its coordinate_transformation_mode '{}' is not known.", coordinates);
  settings.coordinates = found->second;
  settings.nearest = call.text("nearest_mode", is_old ? "floor" : "round_prefer_floor");
  if (settings.nearest != "floor" && settings.nearest != "ceil" &&
      settings.nearest != "round_prefer_floor" && settings.nearest != "round_prefer_ceil")
    return call.error("its nearest_mode '{}' is not known.", settings.nearest);
  settings.cubic_a = call.number("cubic_coeff_a", -0.75f);
  settings.antialias = call.integer("antialias", 0) != 0;
  settings.exclude_outside = call.integer("exclude_outside", 0) != 0;
  return settings;
}

// Weights of the elements first, first + 1, ... relative to floor(x). `ratio`, in (0, 1], is the
// distance of x from floor(x).
struct Kernel {
  std::int64_t first = 0;
  std::vector<double> weights;
};

double cubic_weight(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

Kernel kernel_at(const ResizeSettings& settings, double ratio, double scale) {
  if (settings.mode == "nearest") {
    bool upper = ratio == 1;
    if (!upper) {
      upper = settings.nearest == "ceil" ||
              (settings.nearest == "round_prefer_floor" && ratio > 0.5) ||
              (settings.nearest == "round_prefer_ceil" && ratio >= 0.5);
    }
    return {upper ? 1 : 0, {1.0}};
  }
  // The kernel keeps its own width without antialiasing, and if the output is larger than the
  // input.
  const double narrow = settings.antialias ? std::min(scale, 1.0) : 1.0;
  const double reach = settings.mode == "linear" ? 1 : 2;
  Kernel kernel;
  kernel.first = static_cast<std::int64_t>(std::floor(-reach / narrow)) + 1;
  const std::int64_t count = 2 - 2 * kernel.first;
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = (static_cast<double>(kernel.first + i) - ratio) * narrow;
    kernel.weights.push_back(settings.mode == "linear" ? std::clamp(1 - std::abs(x), 0.0, 1.0)
                                                       : cubic_weight(x, settings.cubic_a));
    sum += kernel.weights.back();
  }
  if (settings.antialias)
    for (double& weight : kernel.weights) weight /= sum;
  return kernel;
}

struct Axis {
  std::int64_t size = 0;
  std::int64_t output = 0;
  double scale = 1;
  double roi_start = 0;
  double roi_end = 1;
};

double source_of(Coordinates coordinates, const Axis& axis, double x) {
  const auto size = static_cast<double>(axis.size);
  const double wide = axis.scale * size;  // The size of the output before rounding.
  switch (coordinates) {
    case Coordinates::align_corners:
      return wide == 1 ? 0 : x * (size - 1) / (wide - 1);
    case Coordinates::asymmetric:
      return x / axis.scale;
    case Coordinates::half_pixel_for_nn:
      return (x + 0.5) / axis.scale;
    case Coordinates::crop_and_resize: {
      const double part = axis.roi_end - axis.roi_start;
      const auto count = static_cast<double>(axis.output);
      return (count == 1 ? part * (size - 1) / 2 : x * part * (size - 1) / (count - 1)) +
             axis.roi_start * (size - 1);
    }
    case Coordinates::pytorch_half_pixel:
      return axis.output == 1 ? -0.5 : (x + 0.5) / axis.scale - 0.5;
    case Coordinates::half_pixel_symmetric: {
      const double offset = size / 2 * (1 - static_cast<double>(axis.output) / wide);
      return offset + (x + 0.5) / axis.scale - 0.5;
    }
    case Coordinates::half_pixel:
      break;
  }
  return (x + 0.5) / axis.scale - 0.5;
}

Taps taps_of(const ResizeSettings& settings, const Axis& axis) {
  Taps taps(static_cast<std::size_t>(axis.output));
  for (std::int64_t x = 0; x < axis.output; ++x) {
    const double source = source_of(settings.coordinates, axis, static_cast<double>(x));
    if (settings.coordinates == Coordinates::crop_and_resize &&
        (source < 0 || source > static_cast<double>(axis.size - 1)))
      continue;
    // The left neighbour is strictly smaller than the source, so that the ratio is in (0, 1].
    const double left = std::ceil(source) - 1;
    Kernel kernel = kernel_at(settings, source - left, axis.scale);
    const std::int64_t first = static_cast<std::int64_t>(left) + kernel.first;
    if (settings.exclude_outside) {
      double sum = 0;
      for (std::size_t i = 0; i < kernel.weights.size(); ++i) {
        const std::int64_t place = first + static_cast<std::int64_t>(i);
        if (place < 0 || place >= axis.size) kernel.weights[i] = 0;
        sum += kernel.weights[i];
      }
      for (double& weight : kernel.weights) weight /= sum;
    }
    for (std::size_t i = 0; i < kernel.weights.size(); ++i) {
      if (kernel.weights[i] == 0) continue;
      const std::int64_t place =
          std::clamp<std::int64_t>(first + static_cast<std::int64_t>(i), 0, axis.size - 1);
      taps[static_cast<std::size_t>(x)].push_back({place, static_cast<float>(kernel.weights[i])});
    }
  }
  return taps;
}

// Returns the taps of an axis that is not resized.
Taps unchanged(std::int64_t size) {
  Taps taps;
  for (std::int64_t i = 0; i < size; ++i) taps.push_back({{i, 1.0f}});
  return taps;
}

// Returns the output sizes and scales of the axes that a node resizes.
Result<std::vector<Axis>> resized_axes(const Call& call, const std::vector<std::int64_t>& axes,
                                       const ResizeSettings& settings) {
  const Tensor& x = call.input(0);
  const bool is_old = call.node().op == "Upsample" || call.opset() < 11;
  const std::size_t scales_at = is_old ? 1 : 2;
  std::vector<double> scales, roi;
  std::vector<std::int64_t> sizes;
  for (const float scale : call.numbers("scales")) scales.push_back(scale);
  const Tensor* given = call.optional_input(scales_at);
  if (given != nullptr && given->count() > 0) {
    WEFT_ASSIGN(scales, call.numbers_of(scales_at));
  }
  if (!is_old && call.optional_input(3) != nullptr && call.input(3).count() > 0) {
    WEFT_ASSIGN(sizes, call.integers_of(3));
  }
  if (settings.coordinates == Coordinates::crop_and_resize) {
    if (call.optional_input(1) == nullptr)
      return call.error("its region of interest (roi) is not given.");
    WEFT_ASSIGN(roi, call.numbers_of(1));
    if (roi.size() != 2 * axes.size())
      return call.error("its region of interest (roi) does not have two numbers for each axis.");
  }
  if ((sizes.empty() ? scales.size() : sizes.size()) != axes.size())
    return call.error("its scales or sizes do not fit {} axes.", axes.size());
  if (!sizes.empty() && !scales.empty())
    return call.error("it has both scales and sizes; only one of them may be given.");
  std::vector<Axis> out(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Axis& axis = out[i];
    axis.size = x.shape()[static_cast<std::size_t>(axes[i])];
    if (!roi.empty()) {
      axis.roi_start = roi[i];
      axis.roi_end = roi[axes.size() + i];
    }
    if (sizes.empty()) {
      axis.scale = scales[i];
      const double wide = static_cast<double>(axis.size) * axis.scale *
                          (roi.empty() ? 1 : axis.roi_end - axis.roi_start);
      if (!(axis.scale > 0) || !(wide < static_cast<double>(tensor_bytes_max)))
        return call.error("its scale {} is out of range.", axis.scale);
      axis.output = static_cast<std::int64_t>(std::floor(wide));
    } else {
      if (sizes[i] < 0 || axis.size == 0)
        return call.error("its sizes {} are out of range.", to_string(sizes));
      axis.output = sizes[i];
      axis.scale = static_cast<double>(sizes[i]) / static_cast<double>(axis.size);
    }
  }
  const std::string policy = call.text("keep_aspect_ratio_policy", "stretch");
  if (!sizes.empty() && policy != "stretch") {
    if (policy != "not_larger" && policy != "not_smaller")
      return call.error("its keep_aspect_ratio_policy '{}' is not known.", policy);
    double scale = out[0].scale;
    for (const Axis& axis : out)
      scale = policy == "not_larger" ? std::min(scale, axis.scale) : std::max(scale, axis.scale);
    for (Axis& axis : out) {
      axis.scale = scale;
      axis.output =
          static_cast<std::int64_t>(std::floor(scale * static_cast<double>(axis.size) + 0.5));
    }
  }
  return out;
}

// Copies elements: each output element is an element of the input, or the extrapolation value.
void move_nearest(const Tensor& x, const ResizePlan& plan, Tensor& out) {
  const Shape own = row_major_strides(x.shape()), outer = row_major_strides(plan.output);
  with_type(x.type(), [&]<class T>() {
    const auto in = x.values<T>();
    const auto result = out.mutable_values<T>();
    for (std::size_t i = 0; i < result.size(); ++i) {
      auto rest = static_cast<std::int64_t>(i);
      std::int64_t from = 0;
      bool inside = true;
      for (std::size_t d = 0; d < own.size(); ++d) {
        const std::vector<Tap>& taps =
            plan.dimensions[d][static_cast<std::size_t>(rest / outer[d])];
        rest %= outer[d];
        inside = inside && !taps.empty();
        if (inside) from += taps.front().place * own[d];
      }
      if constexpr (std::is_same_v<T, Truth>)
        result[i] = inside ? in[static_cast<std::size_t>(from)] : Truth(plan.extrapolation != 0);
      else
        result[i] =
            inside ? in[static_cast<std::size_t>(from)] : static_cast<T>(plan.extrapolation);
    }
  });
}

Result<> run_resize(Call& call) {
  const Tensor& x = call.input(0);
  // Only nearest neighbours are allowed for bool and i64: a mean of truth values is not a truth
  // value, and a mean of i64 would not be exact.
  const bool is_moved = x.type() == ElementType::boolean || x.type() == ElementType::i64;
  if (is_moved && call.text("mode", "nearest") != "nearest") return call.bad_type(0);
  WEFT_ASSIGN(const ResizePlan plan, plan_resize(call));
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), plan.output));
  if (call.shapes_only() || out->count() == 0) return {};
  if (is_moved) {
    move_nearest(x, plan, *out);
    return {};
  }
  // Dimensions are resized one by one, from the last to the first, in double.
  std::vector<double> values(static_cast<std::size_t>(x.count()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = x.number(static_cast<std::int64_t>(i));
  Shape shape = x.shape();
  for (std::size_t d = shape.size(); d-- > 0;) {
    const AxisView view(shape, static_cast<std::int64_t>(d));
    const Taps& taps = plan.dimensions[d];
    shape[d] = plan.output[d];
    std::vector<double> next(static_cast<std::size_t>(element_count(shape)));
    for (std::int64_t b = 0; b < view.before; ++b)
      for (std::int64_t i = 0; i < shape[d]; ++i)
        for (std::int64_t a = 0; a < view.after; ++a) {
          const std::vector<Tap>& here = taps[static_cast<std::size_t>(i)];
          double sum = here.empty() ? static_cast<double>(plan.extrapolation) : 0;
          for (const Tap& tap : here)
            sum += static_cast<double>(tap.weight) *
                   values[static_cast<std::size_t>((b * view.length + tap.place) * view.after + a)];
          next[static_cast<std::size_t>((b * shape[d] + i) * view.after + a)] = sum;
        }
    values = std::move(next);
  }
  with_type(x.type(), [&]<class T>() {
    const auto result = out->mutable_values<T>();
    for (std::size_t i = 0; i < result.size(); ++i) {
      if constexpr (std::is_integral_v<T>)
        result[i] = static_cast<T>(std::clamp(std::nearbyint(values[i]),
                                              static_cast<double>(std::numeric_limits<T>::min()),
                                              static_cast<double>(std::numeric_limits<T>::max())));
      else if constexpr (!std::is_same_v<T, Truth>)
        result[i] = static_cast<T>(static_cast<float>(values[i]));
    }
  });
  return {};
}

}  // namespace

Result<ResizePlan> plan_resize(const Call& call) {
  const Tensor& x = call.input(0);
  WEFT_ASSIGN(const ResizeSettings settings, read_settings(call));
  std::vector<std::int64_t> axes;
  std::vector<bool> seen(x.shape().size());
  for (const std::int64_t given : call.integers("axes")) {
    WEFT_ASSIGN(const std::int64_t axis, call.axis(given, x.rank()));
    if (seen[static_cast<std::size_t>(axis)])
      return call.error("the axis {} is given twice.", axis);
    seen[static_cast<std::size_t>(axis)] = true;
    axes.push_back(axis);
  }
  if (axes.empty())
    for (std::int64_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  WEFT_ASSIGN(const std::vector<Axis> resized, resized_axes(call, axes, settings));
  ResizePlan plan{.output = x.shape(),
                  .dimensions = {},
                  .extrapolation = call.number("extrapolation_value", 0)};
  for (std::size_t i = 0; i < axes.size(); ++i)
    plan.output[static_cast<std::size_t>(axes[i])] = resized[i].output;
  WEFT_OK(checked_count(plan.output, x.type()).transform([](std::int64_t) {}));
  for (const std::int64_t size : x.shape()) plan.dimensions.push_back(unchanged(size));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (resized[i].scale == 1 && resized[i].output == resized[i].size &&
        settings.coordinates != Coordinates::crop_and_resize)
      continue;
    if (settings.antialias && resized[i].scale * 65536 < 1)
      return call.error("its scale {} is too small for antialiasing.", resized[i].scale);
    plan.dimensions[static_cast<std::size_t>(axes[i])] = taps_of(settings, resized[i]);
  }
  return plan;
}

std::span<const Operator> resize_operators() {
  static constexpr Operator rows[] = {
      {"Resize", run_resize, 1, 4, 1,
       "antialias:i axes:I coordinate_transformation_mode:s cubic_coeff_a:f exclude_outside:i "
       "extrapolation_value:f keep_aspect_ratio_policy:s mode:s nearest_mode:s"},
      {"Upsample", run_resize, 1, 2, 1, "mode:s scales:F"},
  };
  return rows;
}

}  // namespace weft::onnx
