#include "engine/onnx/operators/window.h"

#include <algorithm>

#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

constexpr std::int64_t setting_max = std::int64_t{1} << 30;

Result<std::vector<std::int64_t>> setting(const Call& call, std::string_view name,
                                          std::size_t count, std::int64_t otherwise,
                                          std::int64_t least) {
  std::vector<std::int64_t> values = call.integers(name);
  if (values.empty()) values.assign(count, otherwise);
  if (values.size() != count)
    return call.error("its {} {} must have {} numbers.", name, to_string(values), count);
  for (const std::int64_t value : values)
    if (value < least || value > setting_max)
      return call.error("its {} {} are out of range.", name, to_string(values));
  return values;
}

}  // namespace

Result<Window> plan_window(const Call& call, Shape input, Shape kernel) {
  const std::size_t n = input.size();
  Window window;
  WEFT_ASSIGN(window.strides, setting(call, "strides", n, 1, 1));
  WEFT_ASSIGN(window.dilations, setting(call, "dilations", n, 1, 1));
  WEFT_ASSIGN(const auto pads, setting(call, "pads", 2 * n, 0, 0));
  const std::string automatic = call.text("auto_pad", "NOTSET");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (!same && automatic != "NOTSET" && automatic != "VALID" && !automatic.empty())
    return call.error("its auto_pad '{}' is not one of NOTSET, SAME_UPPER, SAME_LOWER and VALID.",
                      automatic);
  const bool round_up = call.integer("ceil_mode", 0) != 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t size = input[i], step = window.strides[i];
    if (kernel[i] < 1 || kernel[i] > setting_max)
      return call.error("its kernel {} is out of range.", to_string(kernel));
    const std::int64_t reach = (kernel[i] - 1) * window.dilations[i] + 1;
    std::int64_t before = pads[i], after = pads[n + i], out = 0;
    if (same) {
      out = (size + step - 1) / step;
      const std::int64_t total = std::max<std::int64_t>(0, (out - 1) * step + reach - size);
      before = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      after = total - before;
    } else {
      if (automatic == "VALID") before = after = 0;
      const std::int64_t room = size + before + after - reach;
      if (room < 0)
        return call.error("its window of {} does not fit into {} with pads {} and {}.", reach, size,
                          before, after);
      out = (round_up ? room + step - 1 : room) / step + 1;
      // The last window must begin inside the input or inside the padding before the input.
      if (round_up && (out - 1) * step >= size + before) --out;
    }
    window.pads_before.push_back(before);
    window.pads_after.push_back(after);
    window.output.push_back(out);
  }
  window.input = std::move(input);
  window.kernel = std::move(kernel);
  return window;
}

Result<ConvolutionPlan> plan_convolution(const Call& call, const Tensor& x, const Tensor& weights) {
  const Shape &in = x.shape(), &kernel = weights.shape();
  const std::int64_t groups = call.integer("group", 1);
  if (in.size() < 3 || kernel.size() != in.size() || groups < 1 || in[1] % groups != 0 ||
      kernel[0] % groups != 0 || kernel[1] != in[1] / groups)
    return call.error("weights of shape {} in {} groups do not fit an input of shape {}.",
                      to_string(kernel), groups, to_string(in));
  const Shape sizes(kernel.begin() + 2, kernel.end());
  const std::vector<std::int64_t> given = call.integers("kernel_shape");
  if (!given.empty() && given != sizes)
    return call.error("its kernel_shape {} is not that of the weights {}.", to_string(given),
                      to_string(kernel));
  ConvolutionPlan plan;
  WEFT_ASSIGN(plan.window, plan_window(call, Shape(in.begin() + 2, in.end()), sizes));
  plan.batch = in[0];
  plan.groups = groups;
  plan.channels_in = kernel[1];
  plan.channels_out = kernel[0] / groups;
  plan.output = {in[0], kernel[0]};
  plan.output.insert(plan.output.end(), plan.window.output.begin(), plan.window.output.end());
  return plan;
}

namespace {

// Computes one row (the last dimension) at a time. For each weight it visits all elements of the
// row that the weight reaches, so that the innermost loop runs over neighbours.
template <class T>
void convolve_rows(const ConvolutionPlan& plan, std::span<const T> x, std::span<const T> weights,
                   std::span<const T> bias, std::span<T> out) {
  const Window& w = plan.window;
  const std::size_t n = w.kernel.size(), last = n - 1;
  const std::int64_t in_plane = element_count(w.input), out_plane = element_count(w.output);
  const std::int64_t kernel_plane = element_count(w.kernel);
  const std::int64_t row = w.output[last], step = w.strides[last];
  if (out.empty() || row == 0) return;
  const std::int64_t rows = out_plane / row;
  const Shape in_strides = row_major_strides(w.input);
  for (std::int64_t b = 0; b < plan.batch; ++b)
    for (std::int64_t g = 0; g < plan.groups; ++g)
      for (std::int64_t o = 0; o < plan.channels_out; ++o) {
        const std::int64_t channel = g * plan.channels_out + o;
        T* to = out.data() + (b * plan.groups * plan.channels_out + channel) * out_plane;
        std::fill_n(to, out_plane, bias.empty() ? T{0} : bias[static_cast<std::size_t>(channel)]);
        for (std::int64_t c = 0; c < plan.channels_in; ++c) {
          const T* from = x.data() + ((b * plan.groups + g) * plan.channels_in + c) * in_plane;
          const T* kernel = weights.data() + (channel * plan.channels_in + c) * kernel_plane;
          for (std::int64_t r = 0; r < rows; ++r) {
            T* line = to + r * row;
            for (std::int64_t k = 0; k < kernel_plane; ++k) {
              // The start of the input row that this weight reads, without the last dimension.
              std::int64_t rest_row = r, rest_kernel = k / w.kernel[last], offset = 0;
              bool inside = true;
              for (std::size_t d = last; d-- > 0;) {
                const std::int64_t place = rest_row % w.output[d] * w.strides[d] -
                                           w.pads_before[d] +
                                           rest_kernel % w.kernel[d] * w.dilations[d];
                rest_row /= w.output[d];
                rest_kernel /= w.kernel[d];
                inside = inside && place >= 0 && place < w.input[d];
                offset += place * in_strides[d];
              }
              if (!inside) continue;
              const std::int64_t shift =
                  k % w.kernel[last] * w.dilations[last] - w.pads_before[last];
              // The range of elements i with 0 <= i * step + shift < size.
              const std::int64_t size = w.input[last];
              const std::int64_t first = shift >= 0 ? 0 : (-shift + step - 1) / step;
              const std::int64_t end =
                  size <= shift ? 0 : std::min(row, (size - shift + step - 1) / step);
              const T weight = kernel[k];
              const T* source = from + offset + shift;
              if (step == 1) {
                for (std::int64_t i = first; i < end; ++i) line[i] += weight * source[i];
              } else {
                for (std::int64_t i = first; i < end; ++i) line[i] += weight * source[i * step];
              }
            }
          }
        }
      }
}

}  // namespace

void convolve(const ConvolutionPlan& plan, std::span<const float> x, std::span<const float> weights,
              std::span<const float> bias, std::span<float> out) {
  convolve_rows<float>(plan, x, weights, bias, out);
}
void convolve(const ConvolutionPlan& plan, std::span<const std::int32_t> x,
              std::span<const std::int32_t> weights, std::span<const std::int32_t> bias,
              std::span<std::int32_t> out) {
  convolve_rows<std::int32_t>(plan, x, weights, bias, out);
}

Result<TransposedPlan> plan_transposed(const Call& call, const Tensor& x, const Tensor& weights) {
  const Shape &in = x.shape(), &kernel = weights.shape();
  const std::int64_t groups = call.integer("group", 1);
  if (in.size() < 3 || kernel.size() != in.size() || groups < 1 || kernel[0] != in[1] ||
      in[1] % groups != 0)
    return call.error("weights of shape {} in {} groups do not fit an input of shape {}.",
                      to_string(kernel), groups, to_string(in));
  const std::size_t n = in.size() - 2;
  TransposedPlan plan;
  Window& w = plan.window;
  w.input.assign(in.begin() + 2, in.end());
  w.kernel.assign(kernel.begin() + 2, kernel.end());
  WEFT_ASSIGN(w.strides, setting(call, "strides", n, 1, 1));
  WEFT_ASSIGN(w.dilations, setting(call, "dilations", n, 1, 1));
  WEFT_ASSIGN(const auto pads, setting(call, "pads", 2 * n, 0, 0));
  WEFT_ASSIGN(const auto extra, setting(call, "output_padding", n, 0, 0));
  std::vector<std::int64_t> asked = call.integers("output_shape");
  if (asked.size() == n + 2) asked.erase(asked.begin(), asked.begin() + 2);
  if (!asked.empty() && asked.size() != n)
    return call.error("its output_shape {} does not fit the input {}.", to_string(asked),
                      to_string(in));
  const std::string automatic = call.text("auto_pad", "NOTSET");
  for (std::size_t i = 0; i < n; ++i) {
    if (w.kernel[i] < 1) return call.error("its kernel {} is empty.", to_string(w.kernel));
    const std::int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const std::int64_t full = w.strides[i] * (w.input[i] - 1) + extra[i] + reach;
    std::int64_t before = pads[i], after = pads[n + i];
    if (!asked.empty() || automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      const std::int64_t target = asked.empty() ? w.input[i] * w.strides[i] : asked[i];
      const std::int64_t total = std::max<std::int64_t>(0, full - target);
      before = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
      after = total - before;
      // The padding at the end becomes negative if more output is asked for than the kernel
      // reaches.
      if (full < target) after = full - target;
    } else if (automatic == "VALID") {
      before = after = 0;
    }
    const std::int64_t out = full - before - after;
    if (out < 0 || out > setting_max) return call.error("its output would have the size {}.", out);
    w.pads_before.push_back(before);
    w.pads_after.push_back(after);
    w.output.push_back(out);
  }
  plan.batch = in[0];
  plan.groups = groups;
  plan.channels_in = in[1] / groups;
  plan.channels_out = kernel[1];
  plan.output = {in[0], kernel[1] * groups};
  plan.output.insert(plan.output.end(), w.output.begin(), w.output.end());
  return plan;
}

Result<Window> plan_pool(const Call& call, const Tensor& x) {
  if (x.rank() < 3)
    return call.error("its input must have spatial dimensions, not shape {}.",
                      to_string(x.shape()));
  const std::vector<std::int64_t> kernel = call.integers("kernel_shape");
  Shape spatial(x.shape().begin() + 2, x.shape().end());
  if (kernel.size() != spatial.size())
    return call.error("its kernel_shape {} does not fit the shape {}.", to_string(kernel),
                      to_string(x.shape()));
  return plan_window(call, std::move(spatial), kernel);
}

}  // namespace weft::onnx
