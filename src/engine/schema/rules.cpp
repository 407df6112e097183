#include "engine/schema/rules.h"

#include "common/base/format.h"

namespace weft::schema {

std::string Rules::define(const std::string& body) {
  const auto [entry, is_new] = names_.try_emplace(body);
  if (is_new) {
    entry->second = weft::format("r{}", rules_.size());
    rules_.emplace_back(entry->second, body);
    bytes_ += body.size() + 16;
  }
  return entry->second;
}

std::string Rules::reserve(std::string_view hint) {
  std::string name = "at";
  for (const char c : hint.substr(0, 64)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || name.back() != '-') name += plain ? c : '-';
  }
  name += weft::format("-{}", rules_.size());
  reserved_[name] = rules_.size();
  rules_.emplace_back(name, std::string());
  bytes_ += name.size() + 16;
  return name;
}

void Rules::set(const std::string& name, std::string body) {
  const auto rule = std::ranges::find(rules_, name, &std::pair<std::string, std::string>::first);
  bytes_ += body.size();
  rule->second = std::move(body);
}

std::string Rules::text(const std::string& root) const {
  std::string out = "root ::= " + root + "\n";
  for (const auto& [name, body] : rules_)
    out.append(name).append(" ::= ").append(body).append("\n");
  return out + std::string(json_rules());
}

std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        out += c;
    }
  }
  return out + "\"";
}

std::string class_of(const grammar::CharacterSet& set) {
  std::string out = "[";
  const auto add = [&out](char32_t c) {
    const bool plain =
        (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || (c >= U'0' && c <= U'9');
    if (plain) {
      out += static_cast<char>(c);
    } else if (c <= 0xFF) {
      out += weft::format("\\x{:02X}", static_cast<std::uint32_t>(c));
    } else if (c <= 0xFFFF) {
      out += weft::format("\\u{:04X}", static_cast<std::uint32_t>(c));
    } else {
      out += weft::format("\\U{:08X}", static_cast<std::uint32_t>(c));
    }
  };
  for (const auto& range : set) {
    add(range.first);
    if (range.last == range.first) continue;
    out += '-';
    add(range.last);
  }
  return out + "]";
}

std::string string_character(const grammar::CharacterSet& set) {
  static const grammar::CharacterSet escaped =
      grammar::normalized({{0, 0x1F}, {U'"', U'"'}, {U'\\', U'\\'}});
  std::vector<std::string> alternatives;
  if (const auto plain = grammar::difference(set, escaped); !plain.empty())
    alternatives.push_back(class_of(plain));
  constexpr std::string_view letters = "\"\\bfnrt";
  constexpr std::string_view characters = "\"\\\b\f\n\r\t";
  std::string short_escapes;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (!grammar::contains(set, static_cast<char32_t>(characters[i]))) continue;
    if (letters[i] == '"' || letters[i] == '\\') short_escapes += '\\';
    short_escapes += letters[i];
  }
  if (!short_escapes.empty()) alternatives.push_back(R"("\\" [)" + short_escapes + "]");
  for (char32_t c = 0; c < 0x20; ++c) {
    if (grammar::contains(set, c) && !characters.contains(static_cast<char>(c)))
      alternatives.push_back(weft::format(R"("\\u{:04x}")", static_cast<std::uint32_t>(c)));
  }
  return any_of(alternatives);
}

std::string any_of(const std::vector<std::string>& alternatives) {
  if (alternatives.size() == 1) return alternatives[0];
  std::string out = "(";
  for (const std::string& one : alternatives) out += (out.size() > 1 ? " | " : "") + one;
  return out + ")";
}

// The number of digits is limited so that doubles hold numbers exactly. \u escapes exclude
// surrogates, because a single surrogate is not a character.
std::string_view json_rules() {
  return R"(
value ::= object | array | string | number | boolean | null
object ::= "{" (string ": " value (", " string ": " value)*)? "}"
array ::= "[" (value (", " value)*)? "]"
string ::= "\"" char* "\""
char ::= [^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" ([0-9a-cA-CefEF] hex hex hex | [dD] [0-7] hex hex))
plain ::= [^"\\\x00-\x1F]
hex ::= [0-9a-fA-F]
integer ::= "-"? whole
whole ::= "0" | [1-9] [0-9]{0,14}
number ::= integer ("." [0-9]{1,15})? ([eE] [-+]? [1-9] [0-9]?)?
boolean ::= "true" | "false"
null ::= "null"
)";
}

}  // namespace weft::schema
