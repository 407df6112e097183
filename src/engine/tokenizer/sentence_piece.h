// SentencePiece's merging, as Llama 2 uses it: a text starts as its characters, and the neighbours
// that together are the token with the best score merge until none are. What is no token is written
// as bytes. O(n log n) in the text.
#pragma once

#include <string_view>
#include <vector>

#include "engine/tokenizer/token.h"
#include "engine/tokenizer/vocabulary.h"

namespace weft::tokenizer {

// `text` has U+2581 for each space.
void encode_pieces(const Vocabulary& vocabulary, std::string_view text, std::vector<Token>& out);

}  // namespace weft::tokenizer
