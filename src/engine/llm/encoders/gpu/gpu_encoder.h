// Encoder on a GPU: natively through Dawn and in a browser, the same code. The texts of a pass go
// through the layers side by side, in one submit; only their vectors come back.
//
//   WEFT_CO_ASSIGN(const auto encoder, co_await create_gpu_encoder(device, model, source));
//
// With Activations::f32 every number is f32 apart from weights; otherwise products are in f16, with
// sums in f32, where the device has subgroup matrices and is no processor.
#pragma once

#include <memory>

#include "engine/gpu/device.h"
#include "engine/llm/encoders/encoder.h"

namespace weft::llm {

struct GpuEncoderOptions {
  Activations activations = Activations::f32;
  // Positions of a pass. More of them share a read of the weights, and hold the device up for
  // longer. A text that is longer goes alone.
  std::uint32_t rows = 4096;
  // Awaited before each pass, so that a device that has other things to do gets to them.
  std::function<Async<>()> between{};
};

// Whether a model's shape suits the kernels; others run on the processor.
[[nodiscard]] bool gpu_encoder_possible(const EncoderConfig& config);

// The device outlives the encoder; the model and its source only have to live until it is there.
// unsupported if gpu_encoder_possible() says no; resource_exhausted or out_of_memory if the
// device cannot hold the model; device_lost. embed() also fails with resource_exhausted, for a text
// that is longer than the device has room for.
[[nodiscard]] Async<Result<std::unique_ptr<Encoder>>> create_gpu_encoder(
    gpu::Device& device, const EncoderModel& model, const gguf::Source& source,
    GpuEncoderOptions options = {});

}  // namespace weft::llm
