// SentencePiece encoding as Llama 2 uses it. A text starts as its characters. The two neighbours
// whose joined text is the token with the best score are merged, until no neighbours form a token.
// A part that is not a token is written as bytes. The time is O(n log n) in the length of the text.
#pragma once

#include <string_view>
#include <vector>

#include "engine/tokenizer/token.h"
#include "engine/tokenizer/vocabulary.h"

namespace weft::tokenizer {

// Encodes `text`, in which each space is written as U+2581.
void encode_pieces(const Vocabulary& vocabulary, std::string_view text, std::vector<Token>& out);

}  // namespace weft::tokenizer
