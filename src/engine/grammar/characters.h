// Sets of characters, and the UTF-8 byte sequences that encode them.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::grammar {

struct CharacterRange {
  char32_t first = 0;
  char32_t last = 0;

  friend auto operator<=>(const CharacterRange&, const CharacterRange&) = default;
};
// Ranges in ascending order that do not touch, without surrogates, up to U+10FFFF.
using CharacterSet = std::vector<CharacterRange>;

inline constexpr char32_t character_max = 0x10FFFF;

// Makes a set of any ranges. Numbers that are not characters are left out.
[[nodiscard]] CharacterSet normalized(const std::vector<CharacterRange>& ranges);
// Returns the set of all characters that are not in `set`.
[[nodiscard]] CharacterSet complement(const CharacterSet& set);
[[nodiscard]] CharacterSet difference(const CharacterSet& set, const CharacterSet& without);
[[nodiscard]] bool contains(const CharacterSet& set, char32_t character);

struct ByteRange {
  std::uint8_t first = 0;
  std::uint8_t last = 0;
};
// A sequence is one to four ranges of bytes that follow each other. utf8_sequences() returns
// sequences that together encode exactly the characters of the set. It uses Ken Thompson's and Russ
// Cox's method: ranges are split where the number of bytes changes and where the low bits of a byte
// wrap around.
using ByteSequence = std::vector<ByteRange>;
[[nodiscard]] std::vector<ByteSequence> utf8_sequences(const CharacterSet& set);

}  // namespace weft::grammar
