// A context-free grammar over bytes, checked and ready to be matched: rules, each with
// alternatives, each a sequence of symbols. A symbol is a set of bytes or a rule.
//
// What a Grammar is certain of: every rule of a text can come to an end (so that a text that has
// begun can be completed), and no rule begins with itself in a way that a matcher could follow
// forever.
//
// Threading: const after creation. Bounds: symbols_max.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "engine/grammar/byte_set.h"
#include "engine/grammar/characters.h"

namespace weft::grammar {

using RuleId = std::uint32_t;
using Position = std::uint32_t;  // A symbol's place; an alternative's symbols follow each other.

struct Symbol {
  enum class Kind : std::uint8_t { bytes, rule, end };

  Kind kind = Kind::end;
  std::uint32_t value = 0;  // Which set of bytes, or which rule.

  friend auto operator<=>(const Symbol&, const Symbol&) = default;
};

class Grammar {
 public:
  static constexpr std::size_t symbols_max = std::size_t{1} << 20;
  static constexpr std::uint32_t least_bytes_max = 1u << 30;

  [[nodiscard]] RuleId root() const { return root_; }
  // Where the alternatives of a rule begin.
  [[nodiscard]] std::span<const Position> alternatives(RuleId rule) const {
    return std::span(starts_).subspan(rules_[rule], rules_[rule + 1] - rules_[rule]);
  }
  // Kind end behind the last symbol of an alternative.
  [[nodiscard]] const Symbol& symbol(Position position) const { return symbols_[position]; }
  [[nodiscard]] const ByteSet& bytes(std::uint32_t set) const { return sets_[set]; }
  [[nodiscard]] std::span<const ByteSet> sets() const { return sets_; }
  // Bytes of the shortest text that the rest of the alternative writes, at most least_bytes_max.
  [[nodiscard]] std::uint32_t least_bytes(Position position) const { return least_[position]; }
  [[nodiscard]] std::size_t symbols() const { return symbols_.size(); }

 private:
  friend class GrammarBuilder;
  Grammar() = default;

  RuleId root_ = 0;
  std::vector<Symbol> symbols_;
  std::vector<std::uint32_t> least_;  // [position]
  std::vector<Position> starts_;      // Where alternatives begin, those of a rule together.
  std::vector<std::uint32_t> rules_;  // [rule], and one more: its first alternative in starts_.
  std::vector<ByteSet> sets_;
};

class GrammarBuilder {
 public:
  // A rule without alternatives yet. `name` stands in messages.
  [[nodiscard]] RuleId add_rule(std::string name);
  // resource_exhausted beyond Grammar::symbols_max.
  [[nodiscard]] Result<> add_alternative(RuleId rule, std::vector<Symbol> symbols);

  [[nodiscard]] Symbol bytes(const ByteSet& set);
  [[nodiscard]] static Symbol rule(RuleId id) { return {Symbol::Kind::rule, id}; }
  // One character of the set, which is not empty: a set of bytes, or a rule for its UTF-8.
  [[nodiscard]] Result<Symbol> character(const CharacterSet& set);
  void append_text(std::string_view text, std::vector<Symbol>& out);
  // `symbols` from `least` to `most` times; without `most` any number. New rules get `name`.
  [[nodiscard]] Result<std::vector<Symbol>> repeat(const std::vector<Symbol>& symbols,
                                                   std::uint32_t least, const std::uint32_t* most,
                                                   const std::string& name);

  // invalid_argument, naming the rule, where one that the root leads to never comes to an end or
  // begins with itself.
  [[nodiscard]] Result<Grammar> finish(RuleId root);

 private:
  struct Rule {
    std::string name;
    std::vector<std::vector<Symbol>> alternatives;
    bool reached = false;
  };
  void drop_unreachable(RuleId root);
  [[nodiscard]] std::vector<std::uint32_t> least_of_rules() const;
  [[nodiscard]] Result<> check_beginnings(const std::vector<std::uint32_t>& least) const;

  std::vector<Rule> rules_;
  std::vector<ByteSet> sets_;
  std::map<ByteSet, std::uint32_t> set_ids_;
  std::map<CharacterSet, Symbol> characters_;
  std::size_t symbols_ = 0;
};

}  // namespace weft::grammar
