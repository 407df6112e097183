// Encoder on a GPU. One implementation runs natively through Dawn and in a browser. The texts of a
// pass go through the layers together, in one submit; only their vectors are read back.
//
//   WEFT_CO_ASSIGN(const auto encoder, co_await create_gpu_encoder(device, model, source));
//
// With Activations::f32 every number is f32 apart from weights. Otherwise products are in f16, with
// sums in f32, if the device has subgroup matrices and is not a CPU.
#pragma once

#include <memory>

#include "engine/gpu/device.h"
#include "engine/llm/encoders/encoder.h"

namespace weft::llm {

struct GpuEncoderOptions {
  Activations activations = Activations::f32;
  // The most positions of a pass. More positions share a read of the weights, and occupy the device
  // for longer. A longer text has a pass of its own.
  std::uint32_t rows = 4096;
  // Awaited before each pass, so that the device can do other work between passes.
  std::function<Async<>()> between{};
};

// True if the kernels support the model's shape; other models run on the CPU.
[[nodiscard]] bool gpu_encoder_possible(const EncoderConfig& config);

// Creates an encoder on the device, which outlives the encoder; the model and its source only have
// to live until it is created. Fails with unsupported if gpu_encoder_possible() is false, with
// resource_exhausted or out_of_memory if the device cannot hold the model, and with device_lost.
// embed() also fails with resource_exhausted, for a text that is longer than the device has room
// for.
[[nodiscard]] Async<Result<std::unique_ptr<Encoder>>> create_gpu_encoder(
    gpu::Device& device, const EncoderModel& model, const gguf::Source& source,
    GpuEncoderOptions options = {});

}  // namespace weft::llm
