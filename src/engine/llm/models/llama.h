// Llama 2 and 3, TinyLlama, SmolLM and other models with the architecture "llama": rotary pairs are
// adjacent elements. From Llama 3.1 on, the tensor rope_freqs has divisors of the frequencies.
#pragma once

#include "engine/llm/models/model.h"

namespace weft::llm {

[[nodiscard]] Result<Model> read_llama(const gguf::File& file);

}  // namespace weft::llm
