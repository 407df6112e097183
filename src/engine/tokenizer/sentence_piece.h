// SentencePiece encoding as Llama 2 uses it: a text starts as its characters, and the neighbours
// whose joined text is the token with the best score are merged until no such pair is left. A part
// that is not a token is written as bytes. The time is O(n log n) in the length of the text.
#pragma once

#include <string_view>
#include <vector>

#include "engine/tokenizer/token.h"
#include "engine/tokenizer/vocabulary.h"

namespace weft::tokenizer {

// Encodes `text`, in which U+2581 stands for each space.
void encode_pieces(const Vocabulary& vocabulary, std::string_view text, std::vector<Token>& out);

}  // namespace weft::tokenizer
