// Finds special tokens in a text before the rest of the text is tokenized.
#pragma once

#include <string_view>
#include <vector>

#include "engine/tokenizer/token.h"
#include "engine/tokenizer/vocabulary.h"

namespace weft::tokenizer {

class SpecialTokens {
 public:
  // A part of a text: plain text, or a special token.
  struct Fragment {
    std::string_view text;
    Token token = no_token;
  };

  // The vocabulary outlives this object.
  explicit SpecialTokens(const Vocabulary& vocabulary);

  // Cuts a text at its special tokens, the longest tokens first, each from the left. Control tokens
  // are searched only with `parse_control`; user-defined tokens are always searched.
  [[nodiscard]] std::vector<Fragment> split(const Vocabulary& vocabulary, std::string_view text,
                                            bool parse_control) const;

 private:
  [[nodiscard]] std::vector<Token> find_present(const Vocabulary& vocabulary, std::string_view text,
                                                bool parse_control) const;

  // Tokens by first byte, sorted by text, so that most of a text is skipped quickly.
  std::vector<std::vector<Token>> by_first_;
};

}  // namespace weft::tokenizer
