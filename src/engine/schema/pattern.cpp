#include "engine/schema/pattern.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "common/base/utf8.h"
#include "engine/grammar/characters.h"
#include "engine/schema/rules.h"

namespace weft::schema {
namespace {

using grammar::CharacterRange;
using grammar::CharacterSet;

constexpr std::size_t pattern_bytes_max = 4096;
// The most nested groups; a grammar allows 64 nested parentheses.
constexpr std::size_t groups_max = 12;
constexpr std::uint32_t times_max = 4096;
constexpr std::uint64_t length_max = std::uint64_t{1} << 40;

const CharacterSet& digits() {
  static const CharacterSet set{{U'0', U'9'}};
  return set;
}
const CharacterSet& word_characters() {
  static const CharacterSet set =
      grammar::normalized({{U'0', U'9'}, {U'A', U'Z'}, {U'_', U'_'}, {U'a', U'z'}});
  return set;
}
const CharacterSet& blanks() {
  static const CharacterSet set = grammar::normalized({{0x09, 0x0D},
                                                       {0x20, 0x20},
                                                       {0xA0, 0xA0},
                                                       {0x1680, 0x1680},
                                                       {0x2000, 0x200A},
                                                       {0x2028, 0x2029},
                                                       {0x202F, 0x202F},
                                                       {0x205F, 0x205F},
                                                       {0x3000, 0x3000},
                                                       {0xFEFF, 0xFEFF}});
  return set;
}
const CharacterSet& line_ends() {
  static const CharacterSet set =
      grammar::normalized({{U'\n', U'\n'}, {U'\r', U'\r'}, {0x2028, 0x2029}});
  return set;
}

// A part of a pattern as a grammar expression.
struct PatternPart {
  std::string text{};
  std::uint64_t least = 0;
  std::optional<std::uint64_t> most = 0;
};

class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : text_(text) {}

  Result<Pattern> read() {
    WEFT_ASSIGN(PatternPart all, alternatives(0));
    if (!at_end()) return fail(ErrorCode::invalid_argument, "has a ')' without its '('");
    return Pattern{.expression = std::move(all.text), .least = all.least, .most = all.most};
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  char32_t take_character() {
    const utf8::Decoded decoded = utf8::decode(text_, at_);
    at_ += decoded.bytes;
    return decoded.code;
  }

  // Reads alternatives. Outside of groups, a text may have any characters before an alternative
  // without ^ and after one without $.
  Result<PatternPart> alternatives(std::size_t depth) {
    if (depth > groups_max)
      return fail(ErrorCode::unsupported, "has more than {} groups in one another", groups_max);
    std::vector<std::string> texts;
    PatternPart out{.text = {}, .least = std::numeric_limits<std::uint64_t>::max(), .most = 0};
    do {
      const bool begins = depth == 0 && take("^");
      WEFT_ASSIGN(PatternPart one, sequence(depth));
      const bool ends = depth == 0 && take("$");
      if (depth == 0 && !begins) one.text = "char* " + one.text;
      if (depth == 0 && !ends) one.text += " char*";
      if (depth == 0 && !(begins && ends)) one.most.reset();
      if (one.text.empty()) one.text = "\"\"";
      out.least = std::min(out.least, one.least);
      out.most =
          out.most && one.most ? std::optional(std::max(*out.most, *one.most)) : std::nullopt;
      texts.push_back(std::move(one.text));
    } while (take("|"));
    out.text = any_of(texts);
    return out;
  }

  Result<PatternPart> sequence(std::size_t depth) {
    PatternPart out;
    while (!at_end() && peek() != '|' && peek() != ')') {
      if (peek() == '$' && depth == 0 && (at_ + 1 == text_.size() || text_[at_ + 1] == '|')) break;
      WEFT_ASSIGN(PatternPart one, element(depth));
      WEFT_OK(repeat(one));
      out.text += (out.text.empty() ? "" : " ") + one.text;
      out.least = std::min(out.least + one.least, length_max);
      out.most = out.most && one.most ? std::optional(std::min(*out.most + *one.most, length_max))
                                      : std::nullopt;
    }
    return out;
  }

  Result<PatternPart> element(std::size_t depth) {
    const char c = peek();
    switch (c) {
      case '(':
        return group(depth);
      case '[': {
        WEFT_ASSIGN(const CharacterSet set, bracket());
        return one_of(set);
      }
      case '.':
        ++at_;
        return one_of(grammar::complement(line_ends()));
      case '\\': {
        WEFT_ASSIGN(const CharacterSet set, escape());
        return one_of(set);
      }
      case '^':
      case '$':
        return fail(ErrorCode::unsupported,
                    "has '{}' elsewhere than at the beginning or the end, which is not supported",
                    c);
      case '*':
      case '+':
      case '?':
      case '{':
        return fail(ErrorCode::invalid_argument, "has '{}' with nothing to repeat before it", c);
      default: {
        const char32_t character = take_character();
        return one_of({{character, character}});
      }
    }
  }

  Result<PatternPart> group(std::size_t depth) {
    ++at_;
    if (take("?")) {
      if (take("<") && peek() != '=' && peek() != '!') {
        while (!at_end() && peek() != '>') ++at_;
        if (!take(">"))
          return fail(ErrorCode::invalid_argument, "has a group name without its '>'");
      } else if (!take(":")) {
        const std::size_t begin = text_.rfind('(', at_ - 1);
        return fail(ErrorCode::unsupported, "has '{}', which is not supported",
                    text_.substr(begin, at_ + 1 - begin));
      }
    }
    WEFT_ASSIGN(PatternPart out, alternatives(depth + 1));
    if (!take(")")) return fail(ErrorCode::invalid_argument, "has a '(' without its ')'");
    out.text = "(" + out.text + ")";
    return out;
  }

  static Result<PatternPart> one_of(const CharacterSet& set) {
    if (set.empty()) return fail(ErrorCode::unsupported, "has a class without characters");
    return PatternPart{.text = string_character(set), .least = 1, .most = 1};
  }

  Result<> repeat(PatternPart& part) {
    std::uint32_t least = 0;
    std::optional<std::uint32_t> most;
    if (take("*")) {
    } else if (take("+")) {
      least = 1;
    } else if (take("?")) {
      most = 1;
    } else if (take("{")) {
      WEFT_ASSIGN(least, count());
      if (!take(",")) {
        most = least;
      } else if (peek() != '}') {
        WEFT_ASSIGN(most, count());
      }
      if (!take("}")) return fail(ErrorCode::invalid_argument, "has a '{{' without its '}}'");
      if (most && *most < least)
        return fail(ErrorCode::invalid_argument, "has a repetition whose bounds are out of order");
    } else {
      return {};
    }
    (void)take("?");
    if (peek() == '*' || peek() == '+' || peek() == '{')
      return fail(ErrorCode::invalid_argument, "has '{}' with nothing to repeat before it", peek());
    part.text = most ? weft::format("({}){{{},{}}}", part.text, least, *most)
                     : weft::format("({}){{{},}}", part.text, least);
    part.least = std::min(part.least * least, length_max);
    part.most = part.most && most ? std::optional(std::min(*part.most * *most, length_max))
                : part.most && *part.most == 0 ? part.most
                                               : std::nullopt;
    return {};
  }

  Result<std::uint32_t> count() {
    std::uint32_t out = 0;
    if (peek() < '0' || peek() > '9')
      return fail(ErrorCode::invalid_argument, "has a '{{' without a number behind it");
    while (peek() >= '0' && peek() <= '9') {
      out = out * 10 + static_cast<std::uint32_t>(text_[at_++] - '0');
      if (out > times_max)
        return fail(ErrorCode::unsupported, "repeats more than {} times, which is not supported",
                    times_max);
    }
    return out;
  }

  Result<CharacterSet> bracket() {
    ++at_;
    const bool others = take("^");
    std::vector<CharacterRange> ranges;
    while (!take("]")) {
      if (at_end()) return fail(ErrorCode::invalid_argument, "has a '[' without its ']'");
      WEFT_ASSIGN(const CharacterSet first, class_member());
      const bool is_range = peek() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
      if (!is_range) {
        ranges.insert(ranges.end(), first.begin(), first.end());
        continue;
      }
      ++at_;
      WEFT_ASSIGN(const CharacterSet last, class_member());
      if (first.size() != 1 || last.size() != 1 || first[0].first != first[0].last ||
          last[0].first != last[0].last || last[0].first < first[0].first)
        return fail(ErrorCode::invalid_argument, "has a range whose ends are out of order");
      ranges.push_back({first[0].first, last[0].first});
    }
    const CharacterSet set = grammar::normalized(std::move(ranges));
    return others ? grammar::complement(set) : set;
  }

  Result<CharacterSet> class_member() {
    if (peek() == '\\') return escape();
    const char32_t character = take_character();
    return CharacterSet{{character, character}};
  }

  Result<CharacterSet> escape() {
    ++at_;
    if (at_end()) return fail(ErrorCode::invalid_argument, "ends with a single '\\'");
    const char32_t c = take_character();
    switch (c) {
      case U'd':
        return digits();
      case U'D':
        return grammar::complement(digits());
      case U'w':
        return word_characters();
      case U'W':
        return grammar::complement(word_characters());
      case U's':
        return blanks();
      case U'S':
        return grammar::complement(blanks());
      case U'n':
        return single(U'\n');
      case U'r':
        return single(U'\r');
      case U't':
        return single(U'\t');
      case U'f':
        return single(U'\f');
      case U'v':
        return single(U'\v');
      case U'0':
        if (peek() < '0' || peek() > '9') return single(0);
        break;
      case U'x':
        return hex(2);
      case U'u': {
        if (!take("{")) return hex(4);
        std::size_t digits_before = 0;
        while (at_ + digits_before < text_.size() && text_[at_ + digits_before] != '}')
          ++digits_before;
        WEFT_ASSIGN(CharacterSet set, hex(std::min<std::size_t>(digits_before, 8)));
        if (!take("}")) return fail(ErrorCode::invalid_argument, "has a '\\u{{' without its '}}'");
        return set;
      }
      default:
        if (c < 0x80 && !(c >= U'0' && c <= U'9') && !(c >= U'a' && c <= U'z') &&
            !(c >= U'A' && c <= U'Z'))
          return single(c);
    }
    return fail(ErrorCode::unsupported, "has '\\{}', which is not supported", utf8::encode(c));
  }

  static CharacterSet single(char32_t c) { return {{c, c}}; }

  Result<CharacterSet> hex(std::size_t count_of_digits) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count_of_digits; ++i, ++at_) {
      const char c = peek();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0)
        return fail(ErrorCode::invalid_argument,
                    "has a '\\x' or '\\u' with too few hexadecimal digits");
      value = value << 4 | static_cast<std::uint64_t>(digit);
    }
    if (count_of_digits == 0 || value > grammar::character_max ||
        (value >= 0xD800 && value <= 0xDFFF))
      return fail(ErrorCode::unsupported, "names a code point that is not a character");
    return single(static_cast<char32_t>(value));
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Pattern> read_pattern(std::string_view text) {
  if (text.size() > pattern_bytes_max)
    return fail(ErrorCode::unsupported, "has more than {} bytes", pattern_bytes_max);
  return PatternReader(text).read();
}

}  // namespace weft::schema
