// Text is decoded strictly, and cutting or repairing it never leaves half a character.
#include "common/base/utf8.h"

#include <gtest/gtest.h>

namespace weft::utf8 {
namespace {

TEST(Utf8, EveryCodePointComesBackFromItsBytes) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    const std::string text = encode(code);

    const Decoded decoded = decode(text, 0);

    ASSERT_TRUE(decoded.valid) << static_cast<std::uint32_t>(code);
    ASSERT_EQ(decoded.code, code);
    ASSERT_EQ(decoded.bytes, text.size());
  }
}

TEST(Utf8, OverlongFormsSurrogatesAndStrayBytesAreInvalid) {
  for (const std::string_view text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3", "\xE2\x82",
        "\xF0\x9F\x98", "\xC3\x28"}) {
    EXPECT_FALSE(decode(text, 0).valid) << testing::PrintToString(text);
    EXPECT_EQ(find_invalid("12345678ok" + std::string(text)), 10u) << testing::PrintToString(text);
  }
}

TEST(Utf8, AnUnfinishedCharacterAtTheEndIsMeasured) {
  EXPECT_EQ(unfinished_bytes(""), 0u);
  EXPECT_EQ(unfinished_bytes("abc"), 0u);
  EXPECT_EQ(unfinished_bytes("a\xF0"), 1u);
  EXPECT_EQ(unfinished_bytes("a\xF0\x9F"), 2u);
  EXPECT_EQ(unfinished_bytes("a\xF0\x9F\x98"), 3u);
  EXPECT_EQ(unfinished_bytes("a\xF0\x9F\x98\x80"), 0u);
  EXPECT_EQ(unfinished_bytes("a\x80\x80"), 0u);  // No following bytes make this a character.
  EXPECT_EQ(unfinished_bytes("\xED\xA0"), 0u);   // The first two bytes of a surrogate.
}

TEST(Utf8, EachByteThatIsNoUtf8BecomesAReplacementCharacter) {
  EXPECT_EQ(replace_invalid("h\u00e9 \xF0\x9F\x98\x80"), "h\u00e9 \xF0\x9F\x98\x80");
  EXPECT_EQ(replace_invalid("a\xFF\xC0z"), "a\uFFFD\uFFFDz");
  // A surrogate is invalid in UTF-8.
  EXPECT_EQ(replace_invalid("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid("\xE2\x82"), "\uFFFD\uFFFD");
  EXPECT_TRUE(is_valid(replace_invalid(std::string("\x00\x80\xFE\xF8", 4))));
}

TEST(Utf8, ABoundCutsNoCharacter) {
  // Characters of 1, 2, 3, 4 and 1 bytes.
  const std::string text = "a\u00e9\u20ac\xF0\x9F\x98\x80z";
  const std::size_t whole[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
  for (std::size_t bytes = 0; bytes < std::size(whole); ++bytes) {
    EXPECT_EQ(clip(text, bytes), text.substr(0, whole[bytes])) << bytes;
    EXPECT_EQ(replace_invalid(text, bytes), text.substr(0, whole[bytes])) << bytes;
  }
  EXPECT_EQ(replace_invalid("\xFF", 2), "");  // U+FFFD has three bytes.
  EXPECT_EQ(clip("\x80\x80\x80\x80", 3), "\x80\x80\x80");
}

TEST(Utf8, TheLastCharacterBeginsWhereItsFirstByteIs) {
  const std::string text = "a\u00e9\u20ac\xF0\x9F\x98\x80";
  EXPECT_EQ(begin_of_last(text, 10), 6U);
  EXPECT_EQ(begin_of_last(text, 6), 3U);
  EXPECT_EQ(begin_of_last(text, 3), 1U);
  EXPECT_EQ(begin_of_last(text, 1), 0U);
  EXPECT_EQ(begin_of_last("a\x80", 2), 1U);  // A stray byte counts as a character.
}

TEST(Utf8, CodePointsAreCounted) {
  EXPECT_EQ(count_code_points(""), 0U);
  EXPECT_EQ(count_code_points("a\u00e9\u20ac\xF0\x9F\x98\x80"), 4U);
  EXPECT_EQ(count_code_points("a\xFF\xFF"), 3U);
}

}  // namespace
}  // namespace weft::utf8
