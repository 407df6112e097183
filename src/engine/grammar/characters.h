// Sets of characters, and the UTF-8 bytes that write them.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::grammar {

struct CharacterRange {
  char32_t first = 0;
  char32_t last = 0;

  friend auto operator<=>(const CharacterRange&, const CharacterRange&) = default;
};
// Sorted, apart from one another, without surrogates, up to U+10FFFF.
using CharacterSet = std::vector<CharacterRange>;

inline constexpr char32_t character_max = 0x10FFFF;

// Any ranges as a set; what is no character is left out.
[[nodiscard]] CharacterSet normalized(const std::vector<CharacterRange>& ranges);
// All other characters.
[[nodiscard]] CharacterSet complement(const CharacterSet& set);
[[nodiscard]] CharacterSet difference(const CharacterSet& set, const CharacterSet& without);
[[nodiscard]] bool contains(const CharacterSet& set, char32_t character);

struct ByteRange {
  std::uint8_t first = 0;
  std::uint8_t last = 0;
};
// One to four ranges of bytes, one behind the other; all sequences together are exactly the
// characters of the set. Method: Ken Thompson's and Russ Cox's splitting of ranges where the
// number of bytes changes and where a byte's low bits wrap around.
using ByteSequence = std::vector<ByteRange>;
[[nodiscard]] std::vector<ByteSequence> utf8_sequences(const CharacterSet& set);

}  // namespace weft::grammar
