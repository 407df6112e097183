// Measures on a device which tiles are best for each convolution of a model.
#pragma once

#include "engine/gpu/device.h"
#include "engine/onnx/gpu/convolution_choices.h"
#include "engine/onnx/operators/infer.h"

namespace weft::onnx {

// Measures each convolution that `choices` does not contain, once for each shape, and adds the best
// tiles to `choices`. `halves` is ScheduleOptions::halves. Fails with errors of the device.
[[nodiscard]] Async<Result<>> tune_convolutions(gpu::Device& device, const Graph& graph,
                                                const Inference& inference, bool halves,
                                                ConvolutionChoices& choices);

}  // namespace weft::onnx
