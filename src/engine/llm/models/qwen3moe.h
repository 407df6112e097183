// Qwen 3 with a mixture of experts (30B-A3B and larger): like qwen3, with experts instead of each
// feed-forward.
#pragma once

#include "engine/llm/models/model.h"

namespace weft::llm {

[[nodiscard]] Result<Model> read_qwen3moe(const gguf::File& file);

}  // namespace weft::llm
