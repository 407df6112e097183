// Qwen 3: like qwen2 without biases; queries and keys have a norm for each head before the
// rotation.
#pragma once

#include "engine/llm/models/model.h"

namespace weft::llm {

[[nodiscard]] Result<Model> read_qwen3(const gguf::File& file);

}  // namespace weft::llm
