#include "engine/grammar/token_masks.h"

#include <bit>

namespace weft::grammar {

std::size_t TokenMask::count() const {
  std::size_t sum = 0;
  for (const std::uint64_t word : words_) sum += static_cast<std::size_t>(std::popcount(word));
  return sum;
}

const TokenMask* TokenMasks::allowed(Matcher::State state) {
  if (const auto known = masks_.find(state); known != masks_.end()) return &known->second;
  TokenMask mask(trie_.vocabulary());
  const auto nodes = trie_.nodes();
  const auto tokens = trie_.tokens();
  path_.assign(trie_.depth_max() + 1, state);
  for (std::size_t i = 0; i + 1 < nodes.size();) {
    const VocabularyTrie::Node& node = nodes[i];
    const Matcher::State to = matcher_.next(path_[node.depth - 1u], node.byte);
    if (to == Matcher::full) return nullptr;
    if (to == Matcher::dead) {
      i = node.end;
      continue;
    }
    path_[node.depth] = to;
    for (std::uint32_t token = node.tokens; token < nodes[i + 1].tokens; ++token)
      mask.add(tokens[token]);
    ++i;
  }
  // All masks are dropped at once, because the masks of the states within a string are not needed
  // again once the string has ended.
  if ((masks_.size() + 1) * ((trie_.vocabulary() + 63) / 64) * 8 > bytes_max) masks_.clear();
  return &masks_.emplace(state, std::move(mask)).first->second;
}

}  // namespace weft::grammar
