// Finds the tokens of a vocabulary that may follow a state of a matcher. It keeps the results,
// within a bound.
//
// Threading: one thread. Lifetime: the trie outlives this object.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/grammar/matcher.h"
#include "engine/grammar/vocabulary_trie.h"

namespace weft::grammar {

// A set of tokens, as one bit for each token of the vocabulary.
class TokenMask {
 public:
  explicit TokenMask(std::size_t tokens) : words_((tokens + 63) / 64) {}

  void add(tokenizer::Token token) {
    words_[static_cast<std::size_t>(token) >> 6] |= std::uint64_t{1} << (token & 63);
  }
  [[nodiscard]] bool has(tokenizer::Token token) const {
    const auto index = static_cast<std::size_t>(token);
    return (index >> 6) < words_.size() && (words_[index >> 6] >> (index & 63) & 1) != 0;
  }
  [[nodiscard]] std::size_t count() const;
  // Returns the bits, beginning with the lowest bit of the first word.
  [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

class TokenMasks {
 public:
  static constexpr std::size_t bytes_max = std::size_t{32} << 20;

  TokenMasks(Matcher& matcher, const VocabularyTrie& trie) : matcher_(matcher), trie_(trie) {}
  TokenMasks(const TokenMasks&) = delete;

  // Returns the tokens whose bytes can follow the state, or null if the matcher is full. The mask
  // is valid until the next call.
  [[nodiscard]] const TokenMask* allowed(Matcher::State state);
  [[nodiscard]] std::size_t kept() const { return masks_.size(); }

 private:
  Matcher& matcher_;
  const VocabularyTrie& trie_;
  std::unordered_map<Matcher::State, TokenMask> masks_;
  std::vector<Matcher::State> path_;  // The states on the path in the trie, by depth.
};

}  // namespace weft::grammar
