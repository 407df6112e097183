// Qwen 3: as qwen2 without biases; queries and keys are normed head by head before they turn.
#pragma once

#include "engine/llm/models/model.h"

namespace weft::llm {

[[nodiscard]] Result<Model> read_qwen3(const gguf::File& file);

}  // namespace weft::llm
