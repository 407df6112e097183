// Text is decoded strictly, and characters are what Unicode's tables say.
#include <gtest/gtest.h>

#include "engine/unicode/character.h"
#include "engine/unicode/utf8.h"

namespace weft::unicode {
namespace {

TEST(Utf8, EveryCodePointComesBackFromItsBytes) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    const std::string text = to_utf8(code);

    const Decoded decoded = decode(text, 0);

    ASSERT_TRUE(decoded.valid) << static_cast<std::uint32_t>(code);
    ASSERT_EQ(decoded.code, code);
    ASSERT_EQ(decoded.bytes, text.size());
  }
}

TEST(Utf8, OverlongFormsSurrogatesAndStrayBytesAreInvalid) {
  for (const std::string_view text : {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                                      "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xC3\x28"}) {
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
  EXPECT_EQ(unfinished_bytes("a\x80\x80"), 0u);  // Nothing that comes can make this a character.
  EXPECT_EQ(unfinished_bytes("\xED\xA0"), 0u);   // Half of a surrogate.
}

TEST(Character, ClassesAreThoseOfUnicode) {
  EXPECT_TRUE(is(U'a', Class::letter));
  EXPECT_TRUE(is(U'é', Class::letter));
  EXPECT_TRUE(is(U'中', Class::letter));
  EXPECT_TRUE(is(0x0301, Class::mark));
  EXPECT_FALSE(is(0x0301, Class::letter));
  EXPECT_TRUE(is(U'½', Class::number));
  EXPECT_TRUE(is(U'²', Class::digit));
  EXPECT_FALSE(is(U'²', Class::decimal));
  EXPECT_TRUE(is(U'٣', Class::decimal));
  EXPECT_TRUE(is(U'!', Class::punctuation));
  EXPECT_FALSE(is(U'$', Class::punctuation));
  EXPECT_TRUE(is(0x00A0, Class::space));
  EXPECT_FALSE(is(0x001C, Class::space));
  EXPECT_TRUE(is_python_space(0x001C));
  EXPECT_FALSE(is(0x200B, Class::printable));
  EXPECT_EQ(classes(0x110000), 0);
}

TEST(Character, CaseMappingsMayGrow) {
  std::string text;
  append_upper(text, U'ß');
  append_title(text, U'ß');
  append_lower(text, U'É');
  append_upper(text, U'ÿ');
  append_title(text, U'ǆ');
  append_upper(text, U'1');

  EXPECT_EQ(text, "SSSséŸǅ1");
}

}  // namespace
}  // namespace weft::unicode
