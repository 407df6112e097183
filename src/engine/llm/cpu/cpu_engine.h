// The engine in plain C++ and f32: the reference that the GPU is compared with, and the engine of
// machines without a GPU.
//
// Activations are always f32, whatever the options say. Keys and values are rounded to the cache's
// format and stored as f32.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/gguf/source.h"
#include "engine/llm/engine.h"

namespace weft::llm {

// Creates an engine. The model's file and its source outlive the engine. threads = 0 takes as many
// threads as the machine has.
[[nodiscard]] Result<std::unique_ptr<Engine>> create_cpu_engine(const Model& model,
                                                                const gguf::Source& source,
                                                                const EngineOptions& options,
                                                                std::size_t threads = 0);

}  // namespace weft::llm
