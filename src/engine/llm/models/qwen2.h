// Qwen 2 and 2.5: as llama, with biases on queries, keys and values, and rotary pairs of halves.
#pragma once

#include "engine/llm/models/model.h"

namespace weft::llm {

[[nodiscard]] Result<Model> read_qwen2(const gguf::File& file);

}  // namespace weft::llm
