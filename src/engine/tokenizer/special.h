// Finds special tokens in text, before anything else is tokenized.
#pragma once

#include <string_view>
#include <vector>

#include "engine/tokenizer/token.h"
#include "engine/tokenizer/vocabulary.h"

namespace weft::tokenizer {

class SpecialTokens {
 public:
  // A stretch of plain text, or a token that stood in the text.
  struct Fragment {
    std::string_view text;
    Token token = no_token;
  };

  // The vocabulary outlives this.
  explicit SpecialTokens(const Vocabulary& vocabulary);

  // The longest tokens are cut out first, each from the left. Control tokens are looked for only
  // with `parse_control`; tokens that a user defined always.
  [[nodiscard]] std::vector<Fragment> split(const Vocabulary& vocabulary, std::string_view text,
                                            bool parse_control) const;

 private:
  [[nodiscard]] std::vector<Token> find_present(const Vocabulary& vocabulary, std::string_view text,
                                                bool parse_control) const;

  std::vector<std::vector<Token>>
      by_first_;  // By first byte, sorted by text, to pass over most of a text at once.
};

}  // namespace weft::tokenizer
