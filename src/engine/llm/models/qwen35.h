// Qwen 3.5: three of every four layers are gated DeltaNets; the fourth is attention with a gate,
// norms of its heads, and a rotation of a part of each head.
#pragma once

#include "engine/llm/models/model.h"

namespace weft::llm {

[[nodiscard]] Result<Model> read_qwen35(const gguf::File& file);

}  // namespace weft::llm
