// Plans windows that slide over the spatial dimensions of a tensor, for convolutions and pooling.
// Used by the processor and by GPU kernels.
//
// Shapes: [batch][channel][spatial...]. Padding follows ONNX: explicit pads, SAME_UPPER, SAME_LOWER
// or VALID.
#pragma once

#include "engine/onnx/operators/call.h"

namespace weft::onnx {

struct Window {
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> dilations;
  std::vector<std::int64_t> pads_before;
  std::vector<std::int64_t> pads_after;
  Shape input;   // The spatial sizes of the input.
  Shape output;  // The spatial sizes of the output.
};

// Makes a window from the attributes of a Conv or a pooling node and from the spatial sizes of the
// input and the kernel.
[[nodiscard]] Result<Window> plan_window(const Call& call, Shape input, Shape kernel);

// The plan of a convolution of any kind (Conv, ConvInteger, QLinearConv).
struct ConvolutionPlan {
  Window window;
  std::int64_t batch = 0;
  std::int64_t groups = 1;
  std::int64_t channels_in = 0;   // The number of input channels of one group.
  std::int64_t channels_out = 0;  // The number of output channels of one group.
  Shape output;                   // The shape [batch][groups * channels_out][spatial...].
};
[[nodiscard]] Result<ConvolutionPlan> plan_convolution(const Call& call, const Tensor& x,
                                                       const Tensor& weights);
// Computes the sums of x * weights, and adds `bias` for each output channel unless `bias` is empty.
void convolve(const ConvolutionPlan& plan, std::span<const float> x, std::span<const float> weights,
              std::span<const float> bias, std::span<float> out);
void convolve(const ConvolutionPlan& plan, std::span<const std::int32_t> x,
              std::span<const std::int32_t> weights, std::span<const std::int32_t> bias,
              std::span<std::int32_t> out);

struct TransposedPlan {
  Window window;  // `input` is the size of x, `output` the size of the result.
  std::int64_t batch = 0;
  std::int64_t groups = 1;
  std::int64_t channels_in = 0;   // The number of input channels of one group.
  std::int64_t channels_out = 0;  // The number of output channels of one group.
  Shape output;
};
[[nodiscard]] Result<TransposedPlan> plan_transposed(const Call& call, const Tensor& x,
                                                     const Tensor& weights);

// Plans pooling, whose spatial windows cover each channel separately.
[[nodiscard]] Result<Window> plan_pool(const Call& call, const Tensor& x);

}  // namespace weft::onnx
