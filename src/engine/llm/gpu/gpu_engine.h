// The engine on a GPU: natively through Dawn and in a browser, the same code.
//
// Drawn tokens never wait for the CPU: a draw leaves its token where the next pass reads it, and
// several passes are under way while the first one's token is read back. With Activations::f32
// every number is f32 apart from weights and cache; with int8 matrices are multiplied in int8 while
// decoding and, where the device has subgroup matrices, in f16 while reading prompts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/gguf/source.h"
#include "engine/gpu/device.h"
#include "engine/llm/engine.h"

namespace weft::llm {

// Bytes of weights on the device so far, and in the end.
using LoadProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

// What Engine::device() says of one.
[[nodiscard]] std::string device_name(const gpu::Device& device);

// When a software GPU compiles an engine's kernels (others always do while the model is loaded): a
// part of them before the first pass that needs it, or all while the model is loaded, so that no
// answer waits for a compilation.
enum class CompileKernels : std::uint8_t { at_first_use, at_load };

// The largest number of sequences, options.sequences at most and halved as often as it takes, for
// which the device can bind the cache of a layer and the logits of all of them. `options` are
// completed. At least 1.
[[nodiscard]] std::uint32_t sequences_that_fit(const gpu::Device& device, const Model& model,
                                               const EngineOptions& options);

// The device outlives the engine; the model, its file and its source only have to live until the
// engine is there. Fails with resource_exhausted or out_of_memory if the device cannot hold the
// weights or the cache, and with device_lost.
[[nodiscard]] Async<Result<std::unique_ptr<Engine>>> create_gpu_engine(
    gpu::Device& device, const Model& model, const gguf::Source& source, EngineOptions options,
    LoadProgress on_progress = {}, CompileKernels compile = CompileKernels::at_first_use);

}  // namespace weft::llm
