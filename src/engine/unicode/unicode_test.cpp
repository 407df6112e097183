// Tests the properties of characters against Unicode's data.
#include <gtest/gtest.h>

#include "engine/unicode/character.h"

namespace weft::unicode {
namespace {

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

TEST(Character, BasesAreWhatDecompositionsBeginWith) {
  EXPECT_EQ(base_of(U'a'), U'a');
  EXPECT_EQ(base_of(U'é'), U'e');
  EXPECT_EQ(base_of(U'Ǖ'), U'U');
  EXPECT_EQ(base_of(U'ß'), U'ß');
  EXPECT_EQ(base_of(U'한'), char32_t{0x1112});
  EXPECT_EQ(base_of(0xC0), U'A');
  EXPECT_EQ(base_of(0xBF), char32_t{0xBF});
  EXPECT_EQ(base_of(0x10FFFF), char32_t{0x10FFFF});
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
