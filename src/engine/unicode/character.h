// The properties of code points (letter, mark, number, ...) and their case mappings, from Unicode's
// tables. Some follow Python's functions, because chat templates are written for Python.
#pragma once

#include <cstdint>
#include <string>

namespace weft::unicode {

// The properties of code points, as bits; a code point may have several.
enum class Class : std::uint16_t {
  letter = 1 << 0,       // \p{L}
  mark = 1 << 1,         // \p{M}
  number = 1 << 2,       // \p{N}
  decimal = 1 << 3,      // Python's str.isdecimal()
  digit = 1 << 4,        // Python's str.isdigit()
  punctuation = 1 << 5,  // \p{P}
  space = 1 << 6,        // White_Space, which is \s
  printable = 1 << 7,    // Python's str.isprintable()
  lower = 1 << 8,        // Python's str.islower()
  upper = 1 << 9,        // Python's str.isupper()
};

// Returns all property bits of a code point, and 0 beyond U+10FFFF.
[[nodiscard]] std::uint16_t classes(char32_t code);

[[nodiscard]] inline bool is(char32_t code, Class wanted) {
  return (classes(code) & static_cast<std::uint16_t>(wanted)) != 0;
}
// True if Python's str.isspace() is, which strip() and split() use: White_Space and the four
// separators U+001C to U+001F.
[[nodiscard]] bool is_python_space(char32_t code);

// Returns the first code point of the canonical decomposition (NFD), such as "e" for "é", or the
// code point itself if it has none.
[[nodiscard]] char32_t base_of(char32_t code);

// Appends the code point in another case as UTF-8; it may become several code points. The special
// rule for a final sigma is not applied.
void append_lower(std::string& out, char32_t code);
void append_upper(std::string& out, char32_t code);
void append_title(std::string& out, char32_t code);

}  // namespace weft::unicode
