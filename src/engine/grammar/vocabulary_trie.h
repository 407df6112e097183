// The tokens of a vocabulary by their bytes, as a tree in one array: a walk over all tokens that
// fit a grammar reads it from the front to the back and jumps over what does not fit.
//
// Not in it: control tokens, tokens that end an answer, tokens without text. Memory: about 12 bytes
// for each different beginning of a token. Threading: const after creation.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/tokenizer/tokenizer.h"

namespace weft::grammar {

class VocabularyTrie {
 public:
  using Token = tokenizer::Token;

  struct Node {
    std::uint32_t end = 0;     // The first node that is no longer below this one.
    std::uint32_t tokens = 0;  // This node's tokens: [tokens, the next node's tokens) of tokens().
    std::uint16_t depth = 0;   // Bytes up to this one, from 1.
    std::uint8_t byte = 0;
  };

  explicit VocabularyTrie(const tokenizer::Tokenizer& tokenizer);

  // In the order of their bytes, each before those below it; the last one closes the list.
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const Token> tokens() const { return tokens_; }
  [[nodiscard]] std::size_t depth_max() const { return depth_max_; }
  [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }

  // The longest token that `text` begins with, and how long it is; no_token if there is none.
  [[nodiscard]] std::pair<Token, std::size_t> longest(std::string_view text) const;

 private:
  std::vector<Node> nodes_;
  std::vector<Token> tokens_;
  std::size_t depth_max_ = 0;
  std::size_t vocabulary_ = 0;
};

}  // namespace weft::grammar
