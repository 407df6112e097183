// WordPiece encoding as BERT's tokenizers do it. A text is reduced to base letters without marks,
// in lower case. Punctuation marks and Chinese characters are separate words. A word becomes the
// longest tokens from its left, or the unknown token if it cannot be cut. The results equal
// llama.cpp's, except that unassigned code points are removed like control characters, as BERT's
// own tokenizer does.
#pragma once

#include <string_view>
#include <vector>

#include "engine/tokenizer/token.h"
#include "engine/tokenizer/vocabulary.h"

namespace weft::tokenizer {

// Appends the tokens of a text to `out`. The vocabulary must have an unknown token, and write
// U+2581 before tokens that begin a word.
void encode_words(const Vocabulary& vocabulary, std::string_view text, std::vector<Token>& out);

}  // namespace weft::tokenizer
