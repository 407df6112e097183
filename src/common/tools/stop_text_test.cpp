// Stop texts are found however the text is cut, and no part of them is returned.
#include "common/tools/stop_text.h"

#include <gtest/gtest.h>

namespace weft::tools {
namespace {

struct Said {
  std::string text;
  bool found = false;
};

Said say(std::vector<std::string> stops, const std::vector<std::string>& pieces) {
  StopText stop(std::move(stops));
  Said said;
  for (const std::string& piece : pieces) said.text += stop.push(piece);
  said.found = stop.found();
  said.text += stop.finish();
  return said;
}

TEST(StopText, EndsBeforeTheFirstStop) {
  const Said said = say({"END", "\n\n"}, {"one\n", "\ntwo END"});

  EXPECT_TRUE(said.found);
  EXPECT_EQ(said.text, "one");
}

TEST(StopText, FindsAStopInPieces) {
  const Said said = say({"END"}, {"a E", "N", "D b"});

  EXPECT_TRUE(said.found);
  EXPECT_EQ(said.text, "a ");
}

TEST(StopText, LetsOutWhatTurnedOutToBeNoStop) {
  const Said said = say({"aab"}, {"a", "a", "a", "c", "aa"});

  EXPECT_FALSE(said.found);
  EXPECT_EQ(said.text, "aaacaa");
}

TEST(StopText, HoldsBackNoMoreThanItMust) {
  StopText stop({"xyz"});

  EXPECT_EQ(stop.push("abcxy"), "abc");
  EXPECT_EQ(stop.push("q"), "xyq");
}

TEST(StopText, IgnoresEmptyStops) { EXPECT_EQ(say({""}, {"text"}).text, "text"); }

}  // namespace
}  // namespace weft::tools
