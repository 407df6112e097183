// UTF-8, strictly: no overlong forms, no surrogates, nothing beyond U+10FFFF (Unicode 15, table
// 3-7). Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::utf8 {

struct Decoded {
  char32_t code = 0xFFFD;  // The code point; U+FFFD if the bytes are not UTF-8.
  std::size_t bytes = 1;   // The bytes of the character; 1 if the bytes are not UTF-8.
  bool valid = false;
};

// Decodes the code point at text[at]; at < text.size().
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

// The longest prefix of the text that has at most bytes_max bytes and cuts no character.
[[nodiscard]] std::string_view clip(std::string_view text, std::size_t bytes_max);

// The offset at which the character begins that ends at `end`; 0 < end <= text.size(). A byte that
// is not UTF-8 counts as a character.
[[nodiscard]] std::size_t begin_of_last(std::string_view text, std::size_t end);

// The number of bytes (0 to 3) at the end that begin a character whose rest may still come.
[[nodiscard]] std::size_t unfinished_bytes(std::string_view text);

// The number of code points. A byte that is not UTF-8 counts as one.
[[nodiscard]] std::size_t count_code_points(std::string_view text);

}  // namespace weft::utf8
