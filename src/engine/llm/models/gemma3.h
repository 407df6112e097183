// Gemma 3: like qwen3, with scaled embeddings, GELU gates and norms of the outputs of attention and
// feed-forward. Most layers see only a window of the newest positions; every sixth layer sees all.
#pragma once

#include "engine/llm/models/model.h"

namespace weft::llm {

[[nodiscard]] Result<Model> read_gemma3(const gguf::File& file);

}  // namespace weft::llm
