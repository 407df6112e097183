// The tokens of a vocabulary as a tree of their bytes, stored in one array. A walk over all tokens
// that fit a grammar reads the array from the front to the back and skips subtrees that do not fit.
//
// The tree contains no control tokens, no tokens that end an answer, and no tokens without text.
// Memory: about 12 bytes for each different prefix of a token. Threading: const after creation.
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
    std::uint32_t end = 0;  // The first node after this one's subtree.
    // The index of this node's first token in tokens(). Its tokens end where the next node's begin.
    std::uint32_t tokens = 0;
    std::uint16_t depth = 0;  // Bytes from the root to this node; at least 1.
    std::uint8_t byte = 0;
  };

  explicit VocabularyTrie(const tokenizer::Tokenizer& tokenizer);

  // The nodes in the order of their bytes, each before its subtree. An extra last node ends the
  // list.
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] std::span<const Token> tokens() const { return tokens_; }
  [[nodiscard]] std::size_t depth_max() const { return depth_max_; }
  [[nodiscard]] std::size_t vocabulary() const { return vocabulary_; }

  // Returns the longest token that is a prefix of `text`, and its length; no_token if there is
  // none.
  [[nodiscard]] std::pair<Token, std::size_t> longest(std::string_view text) const;

 private:
  std::vector<Node> nodes_;
  std::vector<Token> tokens_;
  std::size_t depth_max_ = 0;
  std::size_t vocabulary_ = 0;
};

}  // namespace weft::grammar
