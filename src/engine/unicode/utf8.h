// UTF-8, strictly: no overlong forms, no surrogates, nothing beyond U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::unicode {

struct Decoded {
  char32_t code = 0xFFFD;  // U+FFFD where the bytes are not UTF-8, ...
  std::size_t bytes = 1;   // ... and then one byte is passed over.
  bool valid = false;
};

// The code point at text[at]; at < text.size().
[[nodiscard]] Decoded decode(std::string_view text, std::size_t at);

void append_utf8(std::string& out, char32_t code);
[[nodiscard]] std::string to_utf8(char32_t code);

// The offset of the first byte that is not UTF-8; npos when all is well.
[[nodiscard]] std::size_t find_invalid(std::string_view text);
[[nodiscard]] inline bool is_utf8(std::string_view text) { return find_invalid(text) == std::string_view::npos; }

// How many of the last bytes begin a character whose rest may still come (0 to 3).
[[nodiscard]] std::size_t unfinished_bytes(std::string_view text);

// Code points in well-formed text; bytes that are not UTF-8 count as one each.
[[nodiscard]] std::size_t count_code_points(std::string_view text);

}  // namespace weft::unicode
