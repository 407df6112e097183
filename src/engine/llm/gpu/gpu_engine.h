// The engine on a GPU. One implementation runs natively through Dawn and in a browser.
//
// Drawn tokens never wait for the CPU: a draw leaves its token where the next pass reads it, and
// several passes are under way while the first token is read back. With Activations::f32 every
// number is f32 apart from weights and cache. With Activations::int8 matrices are multiplied in
// int8 while decoding and, if the device has subgroup matrices, in f16 while reading prompts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/gguf/source.h"
#include "engine/gpu/device.h"
#include "engine/llm/engine.h"

namespace weft::llm {

// Called with the bytes of weights that are on the device so far, and the bytes of all of them.
using LoadProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

// The text that Engine::device() returns for an engine on this device.
[[nodiscard]] std::string device_name(const gpu::Device& device);

// The time at which a software GPU compiles an engine's kernels: each before the first pass that
// needs it, or all while the model is loaded, so that no answer waits for a compilation. Other GPUs
// compile all kernels while the model is loaded.
enum class CompileKernels : std::uint8_t { at_first_use, at_load };

// The number of sequences for which the device can bind the cache of a layer and the logits of all
// sequences: options.sequences, halved until they fit; at least 1. The defaults of `options` must
// be filled in.
[[nodiscard]] std::uint32_t sequences_that_fit(const gpu::Device& device, const Model& model,
                                               const EngineOptions& options);

// Creates an engine on the device, which outlives the engine; the model, its file and its source
// only have to live until the engine is created. Fails with resource_exhausted or out_of_memory if
// the device cannot hold the weights or the cache, and with device_lost if the device is lost.
[[nodiscard]] Async<Result<std::unique_ptr<Engine>>> create_gpu_engine(
    gpu::Device& device, const Model& model, const gguf::Source& source, EngineOptions options,
    LoadProgress on_progress = {}, CompileKernels compile = CompileKernels::at_first_use);

}  // namespace weft::llm
