// How each convolution of a model is best cut on a device, found by trying.
#pragma once

#include "engine/gpu/device.h"
#include "engine/onnx/gpu/convolution_choices.h"
#include "engine/onnx/operators/infer.h"

namespace weft::onnx {

// Measures each convolution that `choices` does not know, once for a node's shape, and adds what is
// best. `halves` as ScheduleOptions has it. Fails with what the device says.
[[nodiscard]] Async<Result<>> tune_convolutions(gpu::Device& device, const Graph& graph,
                                                const Inference& inference, bool halves,
                                                ConvolutionChoices& choices);

}  // namespace weft::onnx
