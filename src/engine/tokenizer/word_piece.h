// WordPiece, as BERT's tokenizers cut words: text is decomposed to its base letters, without marks,
// and written small, punctuation marks and Chinese characters are words of their own, and a word
// becomes the longest tokens from its left, or the unknown token as a whole. Exact against
// llama.cpp, except that unassigned code points are left out as control characters are, as BERT's
// own tokenizer does.
#pragma once

#include <string_view>
#include <vector>

#include "engine/tokenizer/token.h"
#include "engine/tokenizer/vocabulary.h"

namespace weft::tokenizer {

// Tokens at the end of `out`; the vocabulary has an unknown token, and writes U+2581 before tokens
// that begin a word.
void encode_words(const Vocabulary& vocabulary, std::string_view text, std::vector<Token>& out);

}  // namespace weft::tokenizer
