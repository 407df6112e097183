// Characters are complete, however their bytes are cut.
#include "common/tools/whole_text.h"

#include <gtest/gtest.h>

namespace weft::tools {
namespace {

TEST(WholeText, ACharacterComesWithItsLastByte) {
  WholeText text;
  EXPECT_EQ(text.push("a\xE2\x82"), "a");
  EXPECT_EQ(text.push("\xAC!"), "\xE2\x82\xAC!");
  EXPECT_EQ(text.finish(), "");
}

TEST(WholeText, BytesThatAreNoCharacterAreReplaced) {
  WholeText text;
  EXPECT_EQ(text.push("\xFFz"), "\xEF\xBF\xBDz");
  EXPECT_EQ(text.push("\xE2"), "");
  EXPECT_EQ(text.finish(), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace weft::tools
