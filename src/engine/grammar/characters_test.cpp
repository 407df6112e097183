// Tests that exactly one sequence encodes each character of a set, and that no other text is
// encoded.
#include "engine/grammar/characters.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/utf8.h"

namespace weft::grammar {
namespace {

bool fits(const ByteSequence& sequence, const std::string& bytes) {
  return std::ranges::equal(sequence, bytes, [](const ByteRange& range, char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    return range.first <= byte && byte <= range.last;
  });
}

TEST(Characters, SequencesWriteExactlyTheSet) {
  const CharacterSet sets[] = {
      complement({}), normalized({{U'a', U'z'}}),
      complement(normalized({{U'"', U'"'}, {U'\\', U'\\'}, {0, 0x1F}})),
      normalized({{0x7F, 0x80}, {0x7FE, 0x801}, {0xFFFE, 0x10001}, {0x10FFFF, 0x10FFFF}}),
      normalized({{0x20AC, 0x20AC}, {0xD700, 0xE100}, {0x3F, 0x12345}})};
  for (const CharacterSet& set : sets) {
    const auto sequences = utf8_sequences(set);
    for (char32_t c = 0; c <= character_max; ++c) {
      if (c >= 0xD800 && c <= 0xDFFF) continue;
      const std::string bytes = utf8::encode(c);
      const auto writers = std::ranges::count_if(
          sequences, [&](const ByteSequence& sequence) { return fits(sequence, bytes); });
      ASSERT_EQ(writers, contains(set, c) ? 1 : 0) << static_cast<std::uint32_t>(c);
    }
  }
}

TEST(Characters, SetsAreSortedJoinedAndWithoutSurrogates) {
  EXPECT_EQ(normalized({{5, 9}, {1, 2}, {3, 3}, {20, 10}}), (CharacterSet{{1, 3}, {5, 9}}));
  EXPECT_EQ(normalized({{0xD000, 0xF000}}), (CharacterSet{{0xD000, 0xD7FF}, {0xE000, 0xF000}}));
  EXPECT_EQ(complement(complement(normalized({{65, 70}}))), (CharacterSet{{65, 70}}));
  EXPECT_EQ(difference(normalized({{1, 9}}), normalized({{3, 4}})), (CharacterSet{{1, 2}, {5, 9}}));
}

}  // namespace
}  // namespace weft::grammar
