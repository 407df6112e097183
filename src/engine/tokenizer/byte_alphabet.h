// How byte-level vocabularies write bytes: each is one printable character (GPT-2's table), so that
// a token with spaces, newlines or half a UTF-8 character can stand in a text file. 'a' is itself,
// a space is U+0120, a newline U+010A.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::tokenizer {

// The character for a byte as UTF-8, and all of a text.
[[nodiscard]] std::string_view alphabet_character(std::uint8_t byte);
void append_alphabet(std::string& out, std::string_view bytes);

// The byte for a character; nullopt for one that is not in the alphabet.
[[nodiscard]] std::optional<std::uint8_t> byte_of(char32_t character);
// The bytes of a token's text. Characters outside the alphabet stand for themselves.
void append_bytes(std::string& out, std::string_view alphabet);

}  // namespace weft::tokenizer
