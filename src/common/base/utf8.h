// UTF-8, strictly: no overlong forms, no surrogates, nothing beyond U+10FFFF (Unicode 15, table
// 3-7). Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::utf8 {

struct Decoded {
  char32_t code = 0xFFFD;  // U+FFFD if the bytes are not UTF-8, ...
  std::size_t bytes = 1;   // ... and then one byte is passed over.
  bool valid = false;
};

// The code point at text[at]; at < text.size().
[[nodiscard]] Decoded decode(std::string_view text, std::size_t at);

void append(std::string& out, char32_t code);
[[nodiscard]] std::string encode(char32_t code);

// The offset of the first byte that is not UTF-8; npos if all of the text is UTF-8.
[[nodiscard]] std::size_t find_invalid(std::string_view text);
[[nodiscard]] inline bool is_valid(std::string_view text) {
  return find_invalid(text) == std::string_view::npos;
}

// The text with each byte that is not UTF-8 replaced by U+FFFD. The result has at most bytes_max
// bytes and ends with a whole character.
[[nodiscard]] std::string replace_invalid(std::string_view text,
                                          std::size_t bytes_max = std::string_view::npos);

// The longest beginning of the text that has at most bytes_max bytes and cuts no character.
[[nodiscard]] std::string_view clip(std::string_view text, std::size_t bytes_max);

// Where the character that ends at `end` begins; 0 < end <= text.size(). A byte that is not UTF-8
// is a character of its own.
[[nodiscard]] std::size_t begin_of_last(std::string_view text, std::size_t end);

// How many of the last bytes begin a character whose rest may still come (0 to 3).
[[nodiscard]] std::size_t unfinished_bytes(std::string_view text);

// Code points in well-formed text; bytes that are not UTF-8 count as one each.
[[nodiscard]] std::size_t count_code_points(std::string_view text);

}  // namespace weft::utf8
