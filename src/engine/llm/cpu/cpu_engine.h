// The engine in plain C++ and f32: the oracle that the GPU is compared with, and what runs if
// there is no GPU.
//
// Activations are f32 whatever the options say. Keys and values are rounded as the cache's format
// would and kept as f32.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/gguf/source.h"
#include "engine/llm/engine.h"

namespace weft::llm {

// The model's file and its source outlive the engine. threads = 0: as many as the machine has.
[[nodiscard]] Result<std::unique_ptr<Engine>> create_cpu_engine(const Model& model,
                                                                const gguf::Source& source,
                                                                const EngineOptions& options,
                                                                std::size_t threads = 0);

}  // namespace weft::llm
