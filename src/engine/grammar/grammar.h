// A context-free grammar over bytes, checked and ready to be matched. It has rules; a rule has
// alternatives; an alternative is a sequence of symbols; a symbol is a set of bytes or a rule.
//
// A Grammar guarantees two properties: every rule that a text uses can come to an end, so that a
// text that has begun can be completed; and no rule begins with itself in a way that a matcher
// would follow without end.
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
using Position = std::uint32_t;  // Index of a symbol; an alternative's symbols are contiguous.

struct Symbol {
  enum class Kind : std::uint8_t { bytes, rule, end };

  Kind kind = Kind::end;
  std::uint32_t value = 0;  // Index of the set of bytes or of the rule.

  friend auto operator<=>(const Symbol&, const Symbol&) = default;
};

class Grammar {
 public:
  static constexpr std::size_t symbols_max = std::size_t{1} << 20;
  static constexpr std::uint32_t least_bytes_max = 1u << 30;

  [[nodiscard]] RuleId root() const { return root_; }
  // Returns the positions of the first symbols of a rule's alternatives.
  [[nodiscard]] std::span<const Position> alternatives(RuleId rule) const {
    return std::span(starts_).subspan(rules_[rule], rules_[rule + 1] - rules_[rule]);
  }
  // The symbol after the last one of an alternative has the kind `end`.
  [[nodiscard]] const Symbol& symbol(Position position) const { return symbols_[position]; }
  [[nodiscard]] const ByteSet& bytes(std::uint32_t set) const { return sets_[set]; }
  [[nodiscard]] std::span<const ByteSet> sets() const { return sets_; }
  // Returns the bytes of the shortest text for the rest of the alternative, at most
  // least_bytes_max.
  [[nodiscard]] std::uint32_t least_bytes(Position position) const { return least_[position]; }
  [[nodiscard]] std::size_t symbols() const { return symbols_.size(); }

 private:
  friend class GrammarBuilder;
  Grammar() = default;

  RuleId root_ = 0;
  std::vector<Symbol> symbols_;
  std::vector<std::uint32_t> least_;  // The least number of bytes for each position.
  std::vector<Position> starts_;      // First positions of alternatives, grouped by rule.
  // For each rule, the index of its first alternative in starts_; one more index at the end.
  std::vector<std::uint32_t> rules_;
  std::vector<ByteSet> sets_;
};

class GrammarBuilder {
 public:
  // Adds a rule without alternatives. `name` is for messages.
  [[nodiscard]] RuleId add_rule(std::string name);
  // Fails with resource_exhausted if the grammar exceeds Grammar::symbols_max.
  [[nodiscard]] Result<> add_alternative(RuleId rule, std::vector<Symbol> symbols);

  [[nodiscard]] Symbol bytes(const ByteSet& set);
  [[nodiscard]] static Symbol rule(RuleId id) { return {Symbol::Kind::rule, id}; }
  // Returns a symbol for one character of a set that is not empty: a set of bytes, or a rule for
  // the UTF-8 sequences.
  [[nodiscard]] Result<Symbol> character(const CharacterSet& set);
  void append_text(std::string_view text, std::vector<Symbol>& out);
  // Returns `symbols` repeated `least` to `*most` times, or any number of times if `most` is null.
  // New rules get the name `name`.
  [[nodiscard]] Result<std::vector<Symbol>> repeat(const std::vector<Symbol>& symbols,
                                                   std::uint32_t least, const std::uint32_t* most,
                                                   const std::string& name);

  // Fails with invalid_argument and the rule's name if a rule that the root uses can never end or
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
