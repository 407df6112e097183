// Decodes tokens to text one at a time, to show an answer while it is written. Each result consists
// of whole characters (common/tools/whole_text.h).
#pragma once

#include <string>

#include "common/tools/whole_text.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::tokenizer {

class StreamDecoder {
 public:
  // The tokenizer outlives the decoder.
  StreamDecoder(const Tokenizer& tokenizer, Tokenizer::DecodeOptions options)
      : tokenizer_(tokenizer), options_(options) {}

  // Returns the text that is complete after this token; it may be empty. The token must be in the
  // vocabulary.
  [[nodiscard]] std::string push(Token token) {
    std::string bytes;
    tokenizer_.append_piece(token, options_, bytes);
    return text_.push(bytes);
  }
  // Returns the bytes that are still held back, at the end of the answer.
  [[nodiscard]] std::string finish() { return text_.finish(); }

 private:
  const Tokenizer& tokenizer_;
  const Tokenizer::DecodeOptions options_;
  tools::WholeText text_;
};

}  // namespace weft::tokenizer
