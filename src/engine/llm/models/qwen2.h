// Qwen 2 and 2.5: like llama, with biases on queries, keys and values; rotary pairs are elements p
// and p + half.
#pragma once

#include "engine/llm/models/model.h"

namespace weft::llm {

[[nodiscard]] Result<Model> read_qwen2(const gguf::File& file);

}  // namespace weft::llm
