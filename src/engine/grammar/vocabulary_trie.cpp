#include "engine/grammar/vocabulary_trie.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace weft::grammar {

VocabularyTrie::VocabularyTrie(const tokenizer::Tokenizer& tokenizer)
    : vocabulary_(tokenizer.vocabulary().size()) {
  const tokenizer::Vocabulary& vocabulary = tokenizer.vocabulary();
  std::string bytes;
  struct Piece {
    std::size_t first;
    std::size_t size;
    Token token;
  };
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const auto token = static_cast<Token>(i);
    if (vocabulary.is_control(token) || vocabulary.ends_generation(token) ||
        vocabulary.kind(token) == tokenizer::TokenKind::unused)
      continue;
    const std::size_t first = bytes.size();
    tokenizer.append_piece(token, {}, bytes);
    const std::size_t size = bytes.size() - first;
    if (size > 0 && size <= std::numeric_limits<std::uint16_t>::max())
      pieces.push_back({first, size, token});
  }
  const std::string_view all = bytes;
  const auto text = [all](const Piece& piece) { return all.substr(piece.first, piece.size); };
  std::ranges::sort(pieces, [&](const Piece& a, const Piece& b) {
    const int order = text(a).compare(text(b));
    return order != 0 ? order < 0 : a.token < b.token;
  });

  std::vector<std::uint32_t> open;  // The nodes from the root to the latest node.
  std::string_view last;
  const auto close_to = [&](std::size_t depth) {
    for (; open.size() > depth; open.pop_back())
      nodes_[open.back()].end = static_cast<std::uint32_t>(nodes_.size());
  };
  for (const Piece& piece : pieces) {
    const std::string_view one = text(piece);
    const auto common =
        static_cast<std::size_t>(std::ranges::mismatch(one, last).in1 - one.begin());
    close_to(common);
    for (std::size_t i = common; i < one.size(); ++i) {
      open.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back({.end = 0,
                        .tokens = static_cast<std::uint32_t>(tokens_.size()),
                        .depth = static_cast<std::uint16_t>(i + 1),
                        .byte = static_cast<std::uint8_t>(one[i])});
    }
    tokens_.push_back(piece.token);
    depth_max_ = std::max(depth_max_, one.size());
    last = one;
  }
  close_to(0);
  nodes_.push_back({.end = static_cast<std::uint32_t>(nodes_.size() + 1),
                    .tokens = static_cast<std::uint32_t>(tokens_.size())});
}

std::pair<VocabularyTrie::Token, std::size_t> VocabularyTrie::longest(std::string_view text) const {
  std::pair<Token, std::size_t> best{tokenizer::no_token, 0};
  std::size_t begin = 0, end = nodes_.size() - 1, depth = 0;
  while (depth < text.size()) {
    const auto byte = static_cast<std::uint8_t>(text[depth]);
    while (begin < end && nodes_[begin].byte != byte) begin = nodes_[begin].end;
    if (begin >= end) break;
    ++depth;
    if (nodes_[begin].tokens < nodes_[begin + 1].tokens)
      best = {tokens_[nodes_[begin].tokens], depth};
    end = nodes_[begin].end;
    ++begin;
  }
  return best;
}

}  // namespace weft::grammar
