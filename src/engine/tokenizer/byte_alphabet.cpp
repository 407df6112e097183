#include "engine/tokenizer/byte_alphabet.h"

#include <array>

#include "common/base/utf8.h"

namespace weft::tokenizer {
namespace {

constexpr bool is_itself(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

struct Alphabet {
  std::array<char32_t, 256> characters{};
  std::array<std::int16_t, 512> bytes{};  // -1: the character is not in the alphabet.
  std::array<std::array<char, 2>, 256> utf8{};
};

constexpr Alphabet make_alphabet() {
  Alphabet table;
  table.bytes.fill(-1);
  char32_t next = 256;  // Bytes that are not printable get the code points from 256 on, in order.
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char32_t character = is_itself(byte) ? byte : next++;
    table.characters[byte] = character;
    table.bytes[character] = static_cast<std::int16_t>(byte);
    if (character < 0x80) {
      table.utf8[byte] = {static_cast<char>(character), 0};
    } else {
      table.utf8[byte] = {static_cast<char>(0xC0 | (character >> 6)),
                          static_cast<char>(0x80 | (character & 0x3F))};
    }
  }
  return table;
}
constexpr Alphabet alphabet = make_alphabet();

}  // namespace

std::string_view alphabet_character(std::uint8_t byte) {
  return {alphabet.utf8[byte].data(), alphabet.characters[byte] < 0x80 ? 1u : 2u};
}

void append_alphabet(std::string& out, std::string_view bytes) {
  for (const char byte : bytes) out += alphabet_character(static_cast<std::uint8_t>(byte));
}

std::optional<std::uint8_t> byte_of(char32_t character) {
  if (character >= alphabet.bytes.size() || alphabet.bytes[character] < 0) return std::nullopt;
  return static_cast<std::uint8_t>(alphabet.bytes[character]);
}

void append_bytes(std::string& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded decoded = utf8::decode(text, at);
    const auto byte = byte_of(decoded.code);
    if (byte && decoded.valid) {
      out.push_back(static_cast<char>(*byte));
    } else {
      out += text.substr(at, decoded.bytes);
    }
    at += decoded.bytes;
  }
}

}  // namespace weft::tokenizer
