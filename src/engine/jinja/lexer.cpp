#include "engine/jinja/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "common/base/format.h"
#include "common/base/utf8.h"
#include "engine/jinja/string_literal.h"
#include "engine/unicode/character.h"

namespace weft::jinja {
namespace {

// Replaces \r\n and \r by \n, and removes one newline at the end.
std::string normalized(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      text.push_back(source[i]);
    } else {
      text.push_back('\n');
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalized(source)) {}

  Result<std::vector<Lexeme>> run() {
    while (at_ < source_.size()) WEFT_OK(lex_outside());
    add(Lexeme::Kind::end);
    return std::move(lexemes_);
  }

 private:
  template <class... Args>
  [[nodiscard]] std::unexpected<Error> error(FormatString<Args...> format, Args&&... args) const {
    return fail(ErrorCode::invalid_argument, "The template's line {}: {}.", line_,
                weft::format(format, std::forward<Args>(args)...));
  }

  [[nodiscard]] std::string_view rest() const { return std::string_view(source_).substr(at_); }
  void advance(std::size_t bytes) {
    line_ += static_cast<std::uint32_t>(
        std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                   source_.begin() + static_cast<std::ptrdiff_t>(at_ + bytes), '\n'));
    at_ += bytes;
  }
  Lexeme& add(Lexeme::Kind kind, std::string_view text = {}) {
    lexemes_.push_back({.kind = kind, .line = line_, .text = std::string(text)});
    return lexemes_.back();
  }

  [[nodiscard]] std::size_t space_bytes(std::size_t from) const {
    std::size_t at = from;
    while (at < source_.size()) {
      const utf8::Decoded decoded = utf8::decode(source_, at);
      if (!decoded.valid || !unicode::is_python_space(decoded.code)) break;
      at += decoded.bytes;
    }
    return at - from;
  }

  // Adds the text before a tag, without the whitespace that the tag's sign or its position removes.
  void add_data(std::string_view text, char sign, bool is_print) {
    if (sign == '-') {
      while (!text.empty()) {  // Works as Python's rstrip().
        const std::size_t last = utf8::begin_of_last(text, text.size());
        if (!unicode::is_python_space(utf8::decode(text, last).code)) break;
        text = text.substr(0, last);
      }
    } else if (sign != '+' && !is_print) {
      const std::size_t newline = text.rfind('\n');
      const std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
      if (line_begin > 0 || line_starting_) {
        std::size_t at = line_begin;
        while (at < text.size()) {
          const utf8::Decoded decoded = utf8::decode(text, at);
          if (!unicode::is_python_space(decoded.code)) break;
          at += decoded.bytes;
        }
        if (at == text.size()) text = text.substr(0, line_begin);
      }
    }
    if (!text.empty()) add(Lexeme::Kind::data, text);
  }

  // Returns the length of the end tag at `at`: "%}", "-%}" with the space after it, or "+%}"; 0 if
  // there is no end tag. With `trims` one newline after the tag is included.
  [[nodiscard]] std::size_t end_tag_bytes(std::size_t at, std::string_view tag, bool trims) const {
    const std::string_view text = std::string_view(source_).substr(at);
    if (text.starts_with('-') && text.substr(1).starts_with(tag))
      return 1 + tag.size() + space_bytes(at + 1 + tag.size());
    if (trims && text.starts_with('+') && text.substr(1).starts_with(tag)) return 1 + tag.size();
    if (!text.starts_with(tag)) return 0;
    return tag.size() + (trims && text.substr(tag.size()).starts_with('\n') ? 1 : 0);
  }
  void pass_end_tag(std::size_t bytes) {
    advance(bytes);
    line_starting_ = source_[at_ - 1] == '\n';
  }

  Result<> lex_outside() {
    std::size_t tag = at_;
    while (true) {
      tag = source_.find('{', tag);
      if (tag == std::string::npos || tag + 1 >= source_.size()) {
        add(Lexeme::Kind::data, rest());
        advance(rest().size());
        return {};
      }
      const char second = source_[tag + 1];
      if (second == '{' || second == '%' || second == '#') break;
      ++tag;
    }
    const char second = source_[tag + 1];
    const char after = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    const char sign = after == '-' || after == '+' ? after : '\0';
    add_data(std::string_view(source_).substr(at_, tag - at_), sign, second == '{');
    advance(tag + 2 + (sign != '\0' ? 1 : 0) - at_);
    line_starting_ = false;
    if (second == '#') return pass_comment();
    if (second == '%') {
      if (const std::size_t bytes = raw_begin_bytes(); bytes != 0) return lex_raw(bytes);
      add(Lexeme::Kind::block_begin);
      return lex_inside("%}", Lexeme::Kind::block_end, true);
    }
    add(Lexeme::Kind::print_begin);
    return lex_inside("}}", Lexeme::Kind::print_end, false);
  }

  Result<> pass_comment() {
    for (std::size_t at = at_; at < source_.size(); ++at) {
      if (const std::size_t bytes = end_tag_bytes(at, "#}", true); bytes != 0) {
        advance(at - at_);
        pass_end_tag(bytes);
        return {};
      }
    }
    return error("the comment has no end");
  }

  // Returns the length of "raw %}" after "{%", or 0.
  [[nodiscard]] std::size_t raw_begin_bytes() const {
    std::size_t at = at_ + space_bytes(at_);
    if (!std::string_view(source_).substr(at).starts_with("raw")) return 0;
    at += 3;
    at += space_bytes(at);
    const std::size_t end = end_tag_bytes(at, "%}", false);
    return end == 0 ? 0 : at + end - at_;
  }

  Result<> lex_raw(std::size_t begin_bytes) {
    pass_end_tag(begin_bytes);
    for (std::size_t tag = source_.find("{%", at_); tag != std::string::npos;
         tag = source_.find("{%", tag + 1)) {
      std::size_t at = tag + 2;
      const char sign =
          at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? source_[at] : '\0';
      if (sign != '\0') ++at;
      at += space_bytes(at);
      if (!std::string_view(source_).substr(at).starts_with("endraw")) continue;
      at += 6;
      at += space_bytes(at);
      const std::size_t end = end_tag_bytes(at, "%}", true);
      if (end == 0) continue;
      add_data(std::string_view(source_).substr(at_, tag - at_), sign, false);
      pass_end_tag(at + end - at_);
      return {};
    }
    return error("'raw' has no 'endraw'");
  }

  Result<> lex_inside(std::string_view end_tag, Lexeme::Kind end_kind, bool trims) {
    std::string open;  // Closing brackets that are expected.
    while (at_ < source_.size()) {
      if (open.empty()) {
        if (const std::size_t bytes = end_tag_bytes(at_, end_tag, trims); bytes != 0) {
          add(end_kind);
          pass_end_tag(bytes);
          return {};
        }
      }
      if (const std::size_t bytes = space_bytes(at_); bytes != 0) {
        advance(bytes);
        continue;
      }
      const char c = source_[at_];
      if (is_digit(c)) {
        WEFT_OK(lex_number());
      } else if (c == '\'' || c == '"') {
        WEFT_OK(lex_string(c));
      } else if (const std::size_t bytes = name_bytes(); bytes != 0) {
        add(Lexeme::Kind::name, rest().substr(0, bytes));
        advance(bytes);
      } else {
        WEFT_OK(lex_symbol(open));
      }
    }
    return error("a tag has no end");
  }

  [[nodiscard]] std::size_t name_bytes() const {
    std::size_t at = at_;
    while (at < source_.size()) {
      const utf8::Decoded decoded = utf8::decode(source_, at);
      constexpr auto word = static_cast<std::uint16_t>(unicode::Class::letter) |
                            static_cast<std::uint16_t>(unicode::Class::mark) |
                            static_cast<std::uint16_t>(unicode::Class::decimal);
      if (!decoded.valid || (decoded.code != '_' && (unicode::classes(decoded.code) & word) == 0))
        break;
      at += decoded.bytes;
    }
    return at - at_;
  }

  // Returns the number of bytes from `at` on that are digits with single underscores between them.
  [[nodiscard]] std::size_t digits_bytes(std::size_t at) const {
    const std::size_t from = at;
    while (at < source_.size() &&
           (is_digit(source_[at]) || (source_[at] == '_' && at > from && at + 1 < source_.size() &&
                                      is_digit(source_[at + 1]))))
      ++at;
    return at - from;
  }

  Result<> lex_number() {
    std::size_t end = at_ + digits_bytes(at_);
    bool floating = false;
    if (end + 1 < source_.size() && source_[end] == '.' && is_digit(source_[end + 1])) {
      end += 1 + digits_bytes(end + 1);
      floating = true;
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      std::size_t exponent = end + 1;
      if (exponent < source_.size() && (source_[exponent] == '+' || source_[exponent] == '-'))
        ++exponent;
      if (const std::size_t bytes = digits_bytes(exponent); bytes != 0) {
        end = exponent + bytes;
        floating = true;
      }
    }
    if (!floating) return lex_integer();
    std::string text = source_.substr(at_, end - at_);
    std::erase(text, '_');
    add(Lexeme::Kind::floating).floating = std::strtod(text.c_str(), nullptr);
    advance(end - at_);
    return {};
  }

  Result<> lex_integer() {
    int base = 10;
    std::size_t at = at_;
    if (source_[at] == '0' && at + 1 < source_.size()) {
      const char letter = static_cast<char>(source_[at + 1] | 0x20);
      base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
      if (base != 10) at += 2;
    }
    Integer value = 0;
    const std::size_t first = at;
    for (; at < source_.size(); ++at) {
      const char c = source_[at];
      if (c == '_') continue;
      const int digit = is_digit(c)                              ? c - '0'
                        : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                                 : 99;
      if (digit >= base) break;
      if (__builtin_mul_overflow(value, static_cast<Integer>(base), &value) ||
          __builtin_add_overflow(value, static_cast<Integer>(digit), &value))
        return error("a number is too large");
    }
    if (at == first) return error("a number has no digits");
    add(Lexeme::Kind::integer).integer = value;
    advance(at - at_);
    return {};
  }

  Result<> lex_string(char quote) {
    std::size_t at = at_ + 1;
    while (at < source_.size() && source_[at] != quote) at += source_[at] == '\\' ? 2 : 1;
    if (at >= source_.size()) return error("a string has no end");
    auto content = unescape_string(std::string_view(source_).substr(at_ + 1, at - at_ - 1));
    if (!content) return error("{}", content.error().message);
    add(Lexeme::Kind::string, *content);
    advance(at + 1 - at_);
    return {};
  }

  Result<> lex_symbol(std::string& open) {
    static constexpr auto doubles =
        std::to_array<std::string_view>({"//", "**", "==", "!=", ">=", "<="});
    const std::string_view two = rest().substr(0, 2);
    if (std::ranges::find(doubles, two) != doubles.end()) {
      add(Lexeme::Kind::symbol, two);
      advance(2);
      return {};
    }
    const char c = source_[at_];
    if (std::string_view("+-/*%~[](){}<>=.:|,;").find(c) == std::string_view::npos) {
      const std::size_t bytes = utf8::decode(source_, at_).bytes;
      return error("the character '{}' has no meaning here", rest().substr(0, bytes));
    }
    if (c == '(' || c == '[' || c == '{') {
      open.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
    } else if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c) return error("'{}' closes nothing", c);
      open.pop_back();
    }
    add(Lexeme::Kind::symbol, rest().substr(0, 1));
    advance(1);
    return {};
  }

  const std::string source_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  bool line_starting_ = true;  // True if the previous text ended with a newline.
  std::vector<Lexeme> lexemes_;
};

}  // namespace

Result<std::vector<Lexeme>> lex(std::string_view source) { return Lexer(source).run(); }

}  // namespace weft::jinja
