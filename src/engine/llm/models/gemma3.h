// Gemma 3: as qwen3, with scaled embeddings, GELU gates and a norm of what each half of a layer
// adds. Most layers see only a window of the newest positions; the last of every six sees all.
#pragma once

#include "engine/llm/models/model.h"

namespace weft::llm {

[[nodiscard]] Result<Model> read_gemma3(const gguf::File& file);

}  // namespace weft::llm
