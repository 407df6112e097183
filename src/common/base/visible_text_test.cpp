#include "common/base/visible_text.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(VisibleText, ShowsControlCharactersInsteadOfObeyingThem) {
  EXPECT_EQ(visible_text("a\x1b]0;title\x07z"), "a\\x1b]0;title\\x07z");
  EXPECT_EQ(visible_text("one\r\ntwo\tthree\x7f"), "one\\x0d\\x0atwo\\x09three\\x7f");
  EXPECT_EQ(visible_text(std::string_view("\0", 1)), "\\x00");
  // U+009B begins a terminal command, as ESC [ does.
  EXPECT_EQ(visible_text("\xc2\x9b"
                         "2J"),
            "\\x9b2J");
}

TEST(VisibleText, KeepsWhatItIsToldToKeepAndAllOtherText) {
  EXPECT_EQ(visible_text("one\n\ttwo\x1b", "\n\t"), "one\n\ttwo\\x1b");
  EXPECT_EQ(visible_text("Grün ist die Heide \xc2\xa9 \xf0\x9f\x8c\xbf"),
            "Grün ist die Heide \xc2\xa9 \xf0\x9f\x8c\xbf");
  EXPECT_EQ(visible_text("\xc2"), "\xc2");
}

}  // namespace
}  // namespace weft
