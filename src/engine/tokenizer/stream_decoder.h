// Tokens to text one at a time, for showing an answer while it is written: what comes out is always whole characters. A token
// may end inside a character; its bytes are held back until the rest has come. Bytes that cannot become a character turn
// into U+FFFD, so that the text is UTF-8 throughout.
#pragma once

#include <string>

#include "engine/tokenizer/tokenizer.h"

namespace weft::tokenizer {

class StreamDecoder {
 public:
  // The tokenizer outlives this.
  StreamDecoder(const Tokenizer& tokenizer, Tokenizer::DecodeOptions options) : tokenizer_(tokenizer), options_(options) {}

  // The text that this token completes, perhaps none. The token is in the vocabulary.
  [[nodiscard]] std::string push(Token token);
  // What is still held back, at the end.
  [[nodiscard]] std::string finish();

 private:
  [[nodiscard]] std::string take(std::size_t bytes);

  const Tokenizer& tokenizer_;
  const Tokenizer::DecodeOptions options_;
  std::string held_;
};

}  // namespace weft::tokenizer
