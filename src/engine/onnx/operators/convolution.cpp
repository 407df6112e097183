// Convolutions of floats and integers. (QLinearConv is with the quantised operators.)
#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/walk.h"
#include "engine/onnx/operators/widen.h"
#include "engine/onnx/operators/window.h"

namespace weft::onnx {
namespace {

Result<> run_conv(Call& call) {
  const Tensor &x = call.input(0), &weights = call.input(1);
  const Tensor* bias = call.optional_input(2);
  if (!is_float(x.type())) return call.bad_type(0);
  if (weights.type() != x.type()) return call.bad_type(1);
  if (bias != nullptr && bias->type() != x.type()) return call.bad_type(2);
  WEFT_ASSIGN(const ConvolutionPlan plan, plan_convolution(call, x, weights));
  if (bias != nullptr && bias->count() != plan.output[1])
    return call.error("the bias of shape {} must have {} values.", to_string(bias->shape()),
                      plan.output[1]);
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), plan.output));
  if (call.shapes_only()) return {};
  if (x.type() == ElementType::f32) {
    convolve(plan, x.values<float>(), weights.values<float>(),
             bias == nullptr ? std::span<const float>() : bias->values<float>(),
             out->mutable_values<float>());
    return {};
  }
  std::vector<float> sums(static_cast<std::size_t>(out->count()));
  const std::vector<float> wide_bias = bias == nullptr ? std::vector<float>() : floats_of(*bias);
  convolve(plan, floats_of(x), floats_of(weights), wide_bias, sums);
  store_floats(*out, sums);
  return {};
}

Result<> run_conv_integer(Call& call) {
  const Tensor &x = call.input(0), &weights = call.input(1);
  if (!is_byte(x.type())) return call.bad_type(0);
  if (!is_byte(weights.type())) return call.bad_type(1);
  WEFT_ASSIGN(const ConvolutionPlan plan, plan_convolution(call, x, weights));
  const Tensor *x_zero = call.optional_input(2), *w_zero = call.optional_input(3);
  if (x_zero != nullptr && (x_zero->type() != x.type() || x_zero->count() != 1))
    return call.bad_type(2);
  if (w_zero != nullptr && (w_zero->type() != weights.type() ||
                            (w_zero->count() != 1 && w_zero->count() != weights.shape()[0])))
    return call.bad_type(3);
  WEFT_ASSIGN(Tensor * out, call.make(0, ElementType::i32, plan.output));
  if (call.shapes_only()) return {};
  convolve(plan, less_zero_point(x, x_zero, 0), less_zero_point(weights, w_zero, 0), {},
           out->mutable_values<std::int32_t>());
  return {};
}

// A transposed convolution: each input element, times the weights, is added to the outputs that it
// reaches.
Result<> run_conv_transpose(Call& call) {
  const Tensor &x = call.input(0), &weights = call.input(1);
  const Tensor* bias = call.optional_input(2);
  if (!is_float(x.type())) return call.bad_type(0);
  if (weights.type() != x.type()) return call.bad_type(1);
  if (bias != nullptr && bias->type() != x.type()) return call.bad_type(2);
  WEFT_ASSIGN(const TransposedPlan plan, plan_transposed(call, x, weights));
  if (bias != nullptr && bias->count() != plan.output[1])
    return call.error("the bias of shape {} must have {} values.", to_string(bias->shape()),
                      plan.output[1]);
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), plan.output));
  if (call.shapes_only()) return {};
  const Window& w = plan.window;
  const std::vector<float> in = floats_of(x), kernels = floats_of(weights);
  std::vector<float> sums(static_cast<std::size_t>(out->count()));
  const std::int64_t in_plane = element_count(w.input), out_plane = element_count(w.output),
                     kernel_plane = element_count(w.kernel);
  const std::int64_t channels = plan.groups * plan.channels_out;
  if (bias != nullptr) {
    const std::vector<float> wide = floats_of(*bias);
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] = wide[i / static_cast<std::size_t>(out_plane) % static_cast<std::size_t>(channels)];
  }
  const Shape out_strides = row_major_strides(w.output);
  for (std::int64_t i = 0; i < in_plane; ++i)
    for (std::int64_t k = 0; k < kernel_plane; ++k) {
      std::int64_t rest = i, rest_kernel = k, target = 0;
      bool inside = true;
      for (std::size_t d = w.input.size(); d-- > 0;) {
        const std::int64_t place = rest % w.input[d] * w.strides[d] +
                                   rest_kernel % w.kernel[d] * w.dilations[d] - w.pads_before[d];
        rest /= w.input[d];
        rest_kernel /= w.kernel[d];
        inside = inside && place >= 0 && place < w.output[d];
        target += place * out_strides[d];
      }
      if (!inside) continue;
      for (std::int64_t b = 0; b < plan.batch; ++b)
        for (std::int64_t g = 0; g < plan.groups; ++g)
          for (std::int64_t c = 0; c < plan.channels_in; ++c) {
            const std::int64_t channel = g * plan.channels_in + c;
            const float value = in[static_cast<std::size_t>(
                (b * plan.groups * plan.channels_in + channel) * in_plane + i)];
            for (std::int64_t o = 0; o < plan.channels_out; ++o)
              sums[static_cast<std::size_t>((b * channels + g * plan.channels_out + o) * out_plane +
                                            target)] +=
                  value * kernels[static_cast<std::size_t>(
                              (channel * plan.channels_out + o) * kernel_plane + k)];
          }
    }
  store_floats(*out, sums);
  return {};
}

}  // namespace

std::span<const Operator> convolution_operators() {
  static constexpr std::string_view window =
      "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I";
  static constexpr Operator rows[] = {
      {"Conv", run_conv, 2, 3, 1, window},
      {"ConvInteger", run_conv_integer, 2, 4, 1, window},
      {"ConvTranspose", run_conv_transpose, 2, 3, 1,
       "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I output_padding:I "
       "output_shape:I"},
  };
  return rows;
}

}  // namespace weft::onnx
