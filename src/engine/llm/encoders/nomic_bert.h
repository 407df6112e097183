// Nomic's BERT (nomic-embed-text): rotary positions, queries, keys and values in one matrix, and a
// gate in the feed-forward part.
#pragma once

#include "engine/llm/encoders/encoder_model.h"

namespace weft::llm {

[[nodiscard]] Result<EncoderModel> read_nomic_bert(const gguf::File& file);

}  // namespace weft::llm
