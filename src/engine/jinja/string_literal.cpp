#include "engine/jinja/string_literal.h"

#include <charconv>

#include "common/base/utf8.h"

namespace weft::jinja {
namespace {

struct Number {
  char32_t code;
  std::size_t bytes;
};

Result<Number> hexadecimal(std::string_view text, std::size_t digits) {
  std::uint32_t code = 0;
  const std::string_view number = text.substr(0, digits);
  const char* const begin = number.data();
  const char* const end = begin + number.size();
  if (number.size() < digits || std::from_chars(begin, end, code, 16).ptr != end)
    return fail(ErrorCode::invalid_argument,
                "an escape in a string has fewer than {} hexadecimal digits", digits);
  if (code > 0x10FFFF)
    return fail(ErrorCode::invalid_argument, "an escape in a string names no character");
  return Number{code, digits};
}

Number octal(std::string_view text) {
  char32_t code = 0;
  std::size_t bytes = 0;
  while (bytes < 3 && bytes < text.size() && text[bytes] >= '0' && text[bytes] <= '7')
    code = code * 8 + static_cast<char32_t>(text[bytes++] - '0');
  return {code, bytes};
}

}  // namespace

Result<std::string> unescape_string(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out.push_back(text[at]);
      continue;
    }
    const char letter = text[++at];
    const std::string_view behind = text.substr(at + 1);
    switch (letter) {
      case '\n':
        break;  // A backslash before a newline continues the line.
      case 'n':
        out.push_back('\n');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 'a':
        out.push_back('\a');
        break;
      case 'b':
        out.push_back('\b');
        break;
      case 'f':
        out.push_back('\f');
        break;
      case 'v':
        out.push_back('\v');
        break;
      case '\\':
      case '\'':
      case '"':
        out.push_back(letter);
        break;
      case 'x':
      case 'u':
      case 'U': {
        WEFT_ASSIGN(const Number number, hexadecimal(behind, letter == 'x'   ? 2
                                                             : letter == 'u' ? 4
                                                                             : 8));
        // A surrogate is replaced by U+FFFD, because UTF-8 cannot encode half of a surrogate pair.
        utf8::append(out, number.code >= 0xD800 && number.code <= 0xDFFF ? 0xFFFD : number.code);
        at += number.bytes;
        break;
      }
      default:
        if (letter >= '0' && letter <= '7') {
          const Number number = octal(text.substr(at));
          utf8::append(out, number.code);
          at += number.bytes - 1;
        } else {
          out.push_back('\\');
          out.push_back(letter);
        }
    }
  }
  return out;
}

}  // namespace weft::jinja
