// Collects the rules of a grammar and writes them as GBNF. Rules with the same body are one rule.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/grammar/characters.h"

namespace weft::schema {

class Rules {
 public:
  // The name of a rule with this body.
  [[nodiscard]] std::string define(const std::string& body);
  // A name whose body comes later, by set(): for rules that refer to themselves. `hint` becomes
  // part of the name.
  [[nodiscard]] std::string reserve(std::string_view hint);
  void set(const std::string& name, std::string body);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::string text(const std::string& root) const;

 private:
  std::vector<std::pair<std::string, std::string>> rules_;
  std::map<std::string, std::string> names_;     // By body.
  std::map<std::string, std::size_t> reserved_;  // Places in rules_.
  std::size_t bytes_ = 0;
};

// A literal, with quotation marks.
[[nodiscard]] std::string literal(std::string_view text);
// A class in brackets.
[[nodiscard]] std::string class_of(const grammar::CharacterSet& set);
// One character of the set as it stands inside a JSON string: by itself, or escaped where it must
// be.
[[nodiscard]] std::string string_character(const grammar::CharacterSet& set);
// "a | b", in parentheses where there are several.
[[nodiscard]] std::string any_of(const std::vector<std::string>& alternatives);

// Rules of JSON that every grammar of a schema may use: the definitions of string_rule() and so on.
[[nodiscard]] std::string_view json_rules();

}  // namespace weft::schema
