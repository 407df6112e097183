#include "engine/grammar/gbnf.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "common/base/utf8.h"

namespace weft::grammar {
namespace {

constexpr std::size_t depth_max = 64;  // The most levels of nested parentheses.
constexpr std::uint32_t repetition_max = 1u << 16;

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

class GbnfParser {
 public:
  explicit GbnfParser(std::string_view text) : text_(text) {}

  Result<Grammar> parse() {
    if (const std::size_t bad = utf8::find_invalid(text_); bad != std::string_view::npos) {
      at_ = bad;
      return error("is not UTF-8");
    }
    skip_space(true);
    while (!at_end()) WEFT_OK(parse_rule());
    const auto root = rules_.find("root");
    if (root == rules_.end() || !root->second.defined)
      return fail(ErrorCode::invalid_argument,
                  "The grammar has no rule 'root', with which every text begins.");
    for (const auto& [name, rule] : rules_) {
      if (rule.defined) continue;
      at_ = rule.used;
      return error("the rule '{}' is not defined", name);
    }
    return builder_.finish(root->second.id);
  }

 private:
  struct Known {
    RuleId id = 0;
    bool defined = false;
    std::size_t used = 0;  // The position of the rule's first use.
  };

  template <class... Args>
  [[nodiscard]] std::unexpected<Error> error(FormatString<Args...> format, Args&&... args) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
    // `begin` is 0 if there is no newline, because npos + 1 is 0.
    const std::size_t begin = before.rfind('\n') + 1;
    const std::size_t column = utf8::count_code_points(before.substr(begin)) + 1;
    return fail(ErrorCode::invalid_argument, "Line {}, column {} of the grammar: {}.", line, column,
                weft::format(format, std::forward<Args>(args)...));
  }

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[at_]; }
  [[nodiscard]] bool is_next(std::string_view word) const {
    return text_.substr(at_).starts_with(word);
  }

  // Skips blanks and comments. Ends of lines are skipped only with `lines`, where a rule may
  // continue.
  void skip_space(bool lines) {
    for (; !at_end(); ++at_) {
      const char c = text_[at_];
      if (c == '#') {
        while (!at_end() && text_[at_] != '\n') ++at_;
        if (at_end() || !lines) return;
      } else if (c == '\n' || c == '\r') {
        if (!lines) return;
      } else if (c != ' ' && c != '\t') {
        return;
      }
    }
  }
  // True if the next line begins with `|`, so that the rule continues; the position is then at the
  // `|`.
  bool goes_on() {
    const std::size_t before = at_;
    skip_space(true);
    if (peek() == '|') return true;
    at_ = before;
    return false;
  }

  Result<std::string> parse_name() {
    const std::size_t begin = at_;
    while (!at_end() && is_name_byte(text_[at_])) ++at_;
    if (at_ == begin) return error("the name of a rule is expected");
    return std::string(text_.substr(begin, at_ - begin));
  }

  Known& known(const std::string& name, std::size_t place) {
    const auto [entry, is_new] = rules_.try_emplace(name);
    if (is_new) entry->second = {.id = builder_.add_rule(name), .used = place};
    return entry->second;
  }

  Result<> parse_rule() {
    const std::size_t begin = at_;
    WEFT_ASSIGN(const std::string name, parse_name());
    skip_space(false);
    if (!is_next("::=")) return error("'::=' is expected after the name '{}'", name);
    Known& rule = known(name, begin);
    if (rule.defined) {
      at_ = begin;
      return error("the rule '{}' is defined a second time", name);
    }
    rule.defined = true;
    const RuleId id = rule.id;
    at_ += 3;
    skip_space(true);
    WEFT_OK(parse_alternatives(id, name, 0));
    if (!at_end() && peek() != '\n' && peek() != '\r')
      return error("{} is not expected here", shown());
    skip_space(true);
    return {};
  }

  // Returns the next character as text for messages.
  [[nodiscard]] std::string shown() const {
    if (at_end()) return "the end of the text";
    const std::size_t bytes = utf8::decode(text_, at_).bytes;
    return "'" + std::string(text_.substr(at_, bytes)) + "'";
  }

  Result<> parse_alternatives(RuleId rule, const std::string& name, std::size_t depth) {
    while (true) {
      WEFT_ASSIGN(std::vector<Symbol> symbols, parse_sequence(name, depth));
      WEFT_OK(builder_.add_alternative(rule, std::move(symbols)));
      if (peek() != '|' && !(depth == 0 && goes_on())) return {};
      ++at_;
      skip_space(true);
    }
  }

  Result<std::vector<Symbol>> parse_sequence(const std::string& name, std::size_t depth) {
    std::vector<Symbol> out;
    while (true) {
      const char c = peek();
      std::vector<Symbol> element;
      if (c == '"') {
        WEFT_OK(parse_literal(element));
      } else if (c == '[') {
        WEFT_OK(parse_class(element));
      } else if (c == '.') {
        ++at_;
        WEFT_ASSIGN(element.emplace_back(), builder_.character(complement({})));
      } else if (c == '(') {
        WEFT_OK(parse_group(name, depth, element));
      } else if (is_name_byte(c)) {
        const std::size_t begin = at_;
        WEFT_ASSIGN(const std::string other, parse_name());
        element.push_back(GrammarBuilder::rule(known(other, begin).id));
      } else {
        return out;
      }
      skip_space(depth > 0);
      WEFT_OK(parse_repetitions(name, depth, element));
      out.insert(out.end(), element.begin(), element.end());
      if (out.size() > Grammar::symbols_max)
        return fail(ErrorCode::resource_exhausted,
                    "The grammar's rule '{}' has more than {} symbols.", name,
                    Grammar::symbols_max);
    }
  }

  Result<> parse_group(const std::string& name, std::size_t depth, std::vector<Symbol>& out) {
    if (depth == depth_max) return error("parentheses are nested more than {} deep", depth_max);
    ++at_;
    skip_space(true);
    const RuleId id = builder_.add_rule(name);
    WEFT_OK(parse_alternatives(id, name, depth + 1));
    if (peek() != ')') return error("')' is expected, not {}", shown());
    ++at_;
    out.push_back(GrammarBuilder::rule(id));
    return {};
  }

  Result<> parse_literal(std::vector<Symbol>& out) {
    ++at_;
    while (peek() != '"') {
      if (at_end() || peek() == '\n') return error("the literal has no end; '\"' is expected");
      WEFT_ASSIGN(const char32_t character, parse_character());
      builder_.append_text(utf8::encode(character), out);
    }
    ++at_;
    return {};
  }

  Result<> parse_class(std::vector<Symbol>& out) {
    const std::size_t begin = at_++;
    const bool others = peek() == '^';
    if (others) ++at_;
    std::vector<CharacterRange> ranges;
    while (peek() != ']') {
      if (at_end() || peek() == '\n') return error("the class has no end; ']' is expected");
      WEFT_ASSIGN(const char32_t first, parse_character());
      char32_t last = first;
      if (peek() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        WEFT_ASSIGN(last, parse_character());
        if (last < first) return error("the range in the class ends before it begins");
      }
      ranges.push_back({first, last});
    }
    ++at_;
    CharacterSet set = normalized(ranges);
    if (others) set = complement(set);
    if (set.empty()) {
      at_ = begin;
      return error("the class has no character in it");
    }
    WEFT_ASSIGN(out.emplace_back(), builder_.character(set));
    return {};
  }

  Result<char32_t> parse_character() {
    if (peek() != '\\') {
      const utf8::Decoded decoded = utf8::decode(text_, at_);
      at_ += decoded.bytes;
      return decoded.code;
    }
    ++at_;
    const char c = peek();
    ++at_;
    switch (c) {
      case 'n':
        return U'\n';
      case 't':
        return U'\t';
      case 'r':
        return U'\r';
      case '\\':
      case '"':
      case '[':
      case ']':
      case '-':
      case '^':
        return static_cast<char32_t>(c);
      case 'x':
        return parse_hex(2);
      case 'u':
        return parse_hex(4);
      case 'U':
        return parse_hex(8);
      default:
        at_ -= 2;
        return error("an unknown escape; known are n t r x u U and \\ \" [ ] - ^");
    }
  }

  Result<char32_t> parse_hex(int digits) {
    std::uint64_t value = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      const char c = peek();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return error("{} hexadecimal digits are expected", digits);
      value = value << 4 | static_cast<std::uint64_t>(digit);
    }
    if (value > character_max || (value >= 0xD800 && value <= 0xDFFF))
      return error("U+{:04X} is not a character", value);
    return static_cast<char32_t>(value);
  }

  Result<std::uint32_t> parse_count() {
    std::uint64_t value = 0;
    while (peek() >= '0' && peek() <= '9') {
      value = value * 10 + static_cast<std::uint64_t>(text_[at_++] - '0');
      if (value > repetition_max)
        return error("a repetition of more than {} times", repetition_max);
    }
    return static_cast<std::uint32_t>(value);
  }

  // Reads all repetition operators after one element. Each operator repeats the result of the
  // operators before it.
  Result<> parse_repetitions(const std::string& name, std::size_t depth,
                             std::vector<Symbol>& element) {
    for (std::size_t count = 0;; ++count) {
      std::uint32_t least = 0;
      std::optional<std::uint32_t> most;
      const char c = peek();
      if (c == '*' || c == '+' || c == '?') {
        ++at_;
        least = c == '+' ? 1 : 0;
        if (c == '?') most = 1;
      } else if (c == '{') {
        ++at_;
        skip_space(depth > 0);
        const bool has_least = peek() >= '0' && peek() <= '9';
        WEFT_ASSIGN(least, parse_count());
        skip_space(depth > 0);
        if (peek() == ',') {
          ++at_;
          skip_space(depth > 0);
          if (peek() >= '0' && peek() <= '9') {
            WEFT_ASSIGN(most, parse_count());
          } else if (!has_least) {
            return error("a number is expected in the repetition");
          }
          skip_space(depth > 0);
        } else if (has_least) {
          most = least;
        } else {
          return error("a number is expected in the repetition");
        }
        if (peek() != '}') return error("'}}' is expected, not {}", shown());
        if (most && *most < least)
          return error("a repetition of at least {} and at most {} times", least, *most);
        ++at_;
      } else {
        return {};
      }
      if (count == 8) return error("more than 8 repetitions of one thing");
      WEFT_ASSIGN(element, builder_.repeat(element, least, most ? &*most : nullptr, name));
      skip_space(depth > 0);
    }
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  GrammarBuilder builder_;
  std::map<std::string, Known> rules_;
};

}  // namespace

Result<Grammar> parse_gbnf(std::string_view text) {
  if (text.size() > gbnf_bytes_max)
    return fail(ErrorCode::resource_exhausted, "The grammar has {} bytes; at most {} are read.",
                text.size(), gbnf_bytes_max);
  return GbnfParser(text).parse();
}

}  // namespace weft::grammar
