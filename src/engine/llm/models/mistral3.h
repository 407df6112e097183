// Mistral 3 (Ministral 3 and larger): like llama, with a rotation that YaRN stretches.
#pragma once

#include "engine/llm/models/model.h"

namespace weft::llm {

[[nodiscard]] Result<Model> read_mistral3(const gguf::File& file);

}  // namespace weft::llm
