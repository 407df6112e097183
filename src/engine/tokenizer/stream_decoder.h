// Tokens to text one at a time, for showing an answer while it is written: what comes out is always
// whole characters (common/tools/whole_text.h).
#pragma once

#include <string>

#include "common/tools/whole_text.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::tokenizer {

class StreamDecoder {
 public:
  // The tokenizer outlives this.
  StreamDecoder(const Tokenizer& tokenizer, Tokenizer::DecodeOptions options)
      : tokenizer_(tokenizer), options_(options) {}

  // The text that this token completes, perhaps none. The token is in the vocabulary.
  [[nodiscard]] std::string push(Token token) {
    std::string bytes;
    tokenizer_.append_piece(token, options_, bytes);
    return text_.push(bytes);
  }
  // What is still held back, at the end.
  [[nodiscard]] std::string finish() { return text_.finish(); }

 private:
  const Tokenizer& tokenizer_;
  const Tokenizer::DecodeOptions options_;
  tools::WholeText text_;
};

}  // namespace weft::tokenizer
