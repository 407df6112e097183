// The alphabet in which byte-level vocabularies write bytes: each byte is one printable character
// (GPT-2's table), so that a text file can hold tokens with spaces, newlines or parts of UTF-8
// characters. 'a' is itself, a space is U+0120 and a newline is U+010A.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::tokenizer {

// alphabet_character() returns the character for a byte as UTF-8; append_alphabet() appends the
// characters for all bytes of a text.
[[nodiscard]] std::string_view alphabet_character(std::uint8_t byte);
void append_alphabet(std::string& out, std::string_view bytes);

// Returns the byte for a character, or nullopt if the character is not in the alphabet.
[[nodiscard]] std::optional<std::uint8_t> byte_of(char32_t character);
// Appends the bytes of a token's text. Characters that are not in the alphabet are appended
// unchanged.
void append_bytes(std::string& out, std::string_view alphabet);

}  // namespace weft::tokenizer
