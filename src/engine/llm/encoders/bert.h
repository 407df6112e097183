// BERT and models of its form (all-MiniLM, bge, e5, ...): learned position embeddings, biases in
// all products, GELU.
#pragma once

#include "engine/llm/encoders/encoder_model.h"

namespace weft::llm {

[[nodiscard]] Result<EncoderModel> read_bert(const gguf::File& file);

}  // namespace weft::llm
