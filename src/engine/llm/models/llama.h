// Llama 2 and 3, TinyLlama, SmolLM and others that call themselves "llama": rotary pairs of
// neighbours, and with Llama 3.1 and later divisors of the frequencies in the tensor rope_freqs.
#pragma once

#include "engine/llm/models/model.h"

namespace weft::llm {

[[nodiscard]] Result<Model> read_llama(const gguf::File& file);

}  // namespace weft::llm
