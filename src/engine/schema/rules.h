// Collects the rules of a grammar and writes them as GBNF. Two rules with equal bodies become one
// rule.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/grammar/characters.h"

namespace weft::schema {

class Rules {
 public:
  // Returns the name of a rule with this body, and adds the rule if it is new.
  [[nodiscard]] std::string define(const std::string& body);
  // Returns the name of a rule whose body is set later by set(), for rules that refer to
  // themselves. `hint` becomes part of the name.
  [[nodiscard]] std::string reserve(std::string_view hint);
  void set(const std::string& name, std::string body);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::string text(const std::string& root) const;

 private:
  std::vector<std::pair<std::string, std::string>> rules_;
  std::map<std::string, std::string> names_;     // The rules' names by body.
  std::map<std::string, std::size_t> reserved_;  // Indices into rules_ by name.
  std::size_t bytes_ = 0;
};

// Returns a GBNF literal, with quotation marks.
[[nodiscard]] std::string literal(std::string_view text);
// Returns a GBNF class, in brackets.
[[nodiscard]] std::string class_of(const grammar::CharacterSet& set);
// Returns an expression for one character of the set inside a JSON string: the character itself, or
// its escape if it must be escaped.
[[nodiscard]] std::string string_character(const grammar::CharacterSet& set);
// Returns "a | b", in parentheses if there are several alternatives.
[[nodiscard]] std::string any_of(const std::vector<std::string>& alternatives);

// Returns rules of JSON that every grammar of a schema may use: the definitions of `string` and so
// on.
[[nodiscard]] std::string_view json_rules();

}  // namespace weft::schema
