#include "engine/tokenizer/special.h"

#include <algorithm>
#include <span>

namespace weft::tokenizer {

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) : by_first_(256) {
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const auto token = static_cast<Token>(i);
    const bool special =
        vocabulary.is_control(token) || vocabulary.kind(token) == TokenKind::user_defined;
    if (special && !vocabulary.text(token).empty())
      by_first_[static_cast<std::uint8_t>(vocabulary.text(token)[0])].push_back(token);
  }
  // Tokens are sorted by text, so that all tokens with a common beginning are adjacent.
  for (auto& tokens : by_first_)
    std::ranges::sort(tokens, {}, [&](Token token) { return vocabulary.text(token); });
}

// Returns the special tokens that occur in the text, longest first. Few occur, so that the text is
// then searched only for these.
std::vector<Token> SpecialTokens::find_present(const Vocabulary& vocabulary, std::string_view text,
                                               bool parse_control) const {
  std::vector<Token> present;
  std::vector<bool> seen(vocabulary.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::span<const Token> candidates = by_first_[static_cast<std::uint8_t>(text[at])];
    // The range of sorted candidates is narrowed byte by byte. A candidate occurs in the text if
    // all of its bytes were found.
    for (std::size_t length = 1; !candidates.empty(); ++length) {
      while (!candidates.empty() && vocabulary.text(candidates.front()).size() == length) {
        const Token token = candidates.front();
        candidates = candidates.subspan(1);
        if (seen[static_cast<std::size_t>(token)] ||
            (!parse_control && vocabulary.is_control(token)))
          continue;
        seen[static_cast<std::size_t>(token)] = true;
        present.push_back(token);
      }
      if (at + length >= text.size()) break;
      const auto next = static_cast<std::uint8_t>(text[at + length]);
      const auto byte_at = [&](Token token) {
        return static_cast<std::uint8_t>(vocabulary.text(token)[length]);
      };
      const auto range = std::ranges::equal_range(candidates, next, {}, byte_at);
      candidates = {range.begin(), range.end()};
    }
  }
  std::ranges::sort(present, [&](Token a, Token b) {
    const std::size_t length_a = vocabulary.text(a).size(), length_b = vocabulary.text(b).size();
    return length_a != length_b ? length_a > length_b : a < b;
  });
  return present;
}

std::vector<SpecialTokens::Fragment> SpecialTokens::split(const Vocabulary& vocabulary,
                                                          std::string_view text,
                                                          bool parse_control) const {
  std::vector<Fragment> fragments, next;
  if (!text.empty()) fragments.push_back({.text = text});
  for (const Token token : find_present(vocabulary, text, parse_control)) {
    const std::string_view wanted = vocabulary.text(token);
    next.clear();
    for (const Fragment& fragment : fragments) {
      if (fragment.token != no_token) {
        next.push_back(fragment);
        continue;
      }
      std::string_view rest = fragment.text;
      for (std::size_t found = rest.find(wanted); found != std::string_view::npos;
           found = rest.find(wanted)) {
        if (found > 0) next.push_back({.text = rest.substr(0, found)});
        next.push_back({.text = rest.substr(found, wanted.size()), .token = token});
        rest.remove_prefix(found + wanted.size());
      }
      if (!rest.empty()) next.push_back({.text = rest});
    }
    fragments.swap(next);
  }
  return fragments;
}

}  // namespace weft::tokenizer
