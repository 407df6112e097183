// What a code point is (letter, mark, number, ...) and what it becomes in another case, by
// Unicode's tables and with Python's words where they matter (chat templates are written for
// Python).
#pragma once

#include <cstdint>
#include <string>

namespace weft::unicode {

// Properties as bits; a code point may have several.
enum class Class : std::uint16_t {
  letter = 1 << 0,       // \p{L}
  mark = 1 << 1,         // \p{M}
  number = 1 << 2,       // \p{N}
  decimal = 1 << 3,      // str.isdecimal()
  digit = 1 << 4,        // str.isdigit()
  punctuation = 1 << 5,  // \p{P}
  space = 1 << 6,        // White_Space, which is \s
  printable = 1 << 7,    // str.isprintable()
  lower = 1 << 8,        // str.islower()
  upper = 1 << 9,        // str.isupper()
};

// All bits of a code point; 0 beyond U+10FFFF.
[[nodiscard]] std::uint16_t classes(char32_t code);

[[nodiscard]] inline bool is(char32_t code, Class wanted) {
  return (classes(code) & static_cast<std::uint16_t>(wanted)) != 0;
}
// str.isspace(), which strip() and split() go by: White_Space and the four separators U+001C to
// U+001F.
[[nodiscard]] bool is_python_space(char32_t code);

// What its canonical decomposition (NFD) begins with: "e" of "é"; itself if there is none.
[[nodiscard]] char32_t base_of(char32_t code);

// The code point in another case as UTF-8, at the end of `out`; one may become several. No final
// sigma.
void append_lower(std::string& out, char32_t code);
void append_upper(std::string& out, char32_t code);
void append_title(std::string& out, char32_t code);

}  // namespace weft::unicode
