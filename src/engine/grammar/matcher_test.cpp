// Tests that states follow texts exactly, share memory, and stay within their bounds.
#include "engine/grammar/matcher.h"

#include <gtest/gtest.h>

#include "engine/grammar/gbnf.h"
#include "engine/grammar/test_walk.h"

namespace weft::grammar {
namespace {

std::shared_ptr<const Grammar> compiled(std::string_view text) {
  auto grammar = parse_gbnf(text);
  EXPECT_TRUE(grammar) << grammar.error().message;
  return std::make_shared<const Grammar>(std::move(*grammar));
}

constexpr std::string_view json_grammar = R"(
root ::= value
value ::= object | array | string | "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? | "true" | "false" | "null"
object ::= "{" (string ": " value (", " string ": " value)*)? "}"
array ::= "[" (value (", " value)*)? "]"
string ::= "\"" ([^"\\\x00-\x1f] | "\\" ["\\/bfnrt])* "\""
)";

TEST(Matcher, FollowsNestedTextsAndSaysWhereTheyMayEnd) {
  Matcher matcher(compiled(json_grammar));

  const auto inside = matcher.next(matcher.start(), "{\"a\": [1, {\"b\": \"c\n");
  ASSERT_EQ(inside, Matcher::dead);  // A string cannot contain a line break.
  const auto open = matcher.next(matcher.start(), R"({"a": [1, {"b": "é\n)");
  ASSERT_LT(open, Matcher::full);
  EXPECT_FALSE(matcher.accepts(open));
  EXPECT_EQ(matcher.least_bytes(open), 4u);  // The shortest completion is "}]}
  const auto closed = matcher.next(open, "\"}]}");
  EXPECT_TRUE(matcher.accepts(closed));
  EXPECT_TRUE(matcher.is_complete(closed));
  EXPECT_EQ(matcher.next(closed, 'x'), Matcher::dead);
  const auto number = matcher.next(matcher.start(), "12");
  EXPECT_TRUE(matcher.accepts(number));
  EXPECT_FALSE(matcher.is_complete(number));
}

TEST(Matcher, LoopsAndTailsDoNotMakeNewStates) {
  Matcher matcher(compiled(json_grammar));
  const auto first = matcher.next(matcher.start(), "[\"a");
  const std::size_t states = matcher.states();

  const auto later = matcher.next(first, std::string(100'000, 'a'));

  EXPECT_EQ(later, first);
  EXPECT_EQ(matcher.states(), states);
}

TEST(Matcher, SaysWhatMustFollow) {
  Matcher matcher(
      compiled(R"(root ::= "{\"name\": \"" [a-z]+ "\", \"age\": " [0-9]+ "}" | "{\"none\"}")"));

  EXPECT_EQ(matcher.forced_text(matcher.start(), 100), "{\"n");
  EXPECT_EQ(matcher.forced_text(matcher.start(), 2), "{\"");
  const auto named = matcher.next(matcher.start(), "{\"na");
  EXPECT_EQ(matcher.forced_text(named, 100), "me\": \"");
  const auto written = matcher.next(named, "me\": \"bob\"");
  EXPECT_EQ(matcher.forced_text(written, 100), ", \"age\": ");
}

TEST(Matcher, EveryRandomTextIsTakenAndNoCutOfItIsDead) {
  const auto grammar = compiled(json_grammar);
  Matcher writer(grammar), reader(grammar);
  std::mt19937_64 random(7);
  for (int i = 0; i < 500; ++i) {
    const auto text = test::random_text(writer, random, 1 + random() % 60);
    ASSERT_TRUE(text);

    Matcher::State state = reader.start();
    for (std::size_t at = 0; at < text->size(); ++at) {
      state = reader.next(state, static_cast<std::uint8_t>((*text)[at]));
      ASSERT_LT(state, Matcher::full) << *text << " at " << at;
      ASSERT_LE(reader.least_bytes(state), text->size() - at - 1) << *text;
    }
    EXPECT_TRUE(reader.accepts(state)) << *text;
  }
}

TEST(Matcher, AmbiguityReachesABoundAndNotTheEndOfMemory) {
  // Each "a" can be read by two rules, so that the number of readings doubles with each byte.
  const auto grammar = compiled(R"(root ::= x "!" | y "!"
x ::= "a" x "b" | "a" y "c" | "d"
y ::= "a" x "e" | "a" y "f" | "d")");
  Matcher matcher(grammar, {.stacks_max = 1000});

  const auto state = matcher.next(matcher.start(), std::string(64, 'a'));

  EXPECT_EQ(state, Matcher::full);
  EXPECT_EQ(matcher.next(state, 'a'), Matcher::full);
}

TEST(Matcher, AnotherMatcherTakesOverAState) {
  const auto grammar = compiled(json_grammar);
  Matcher first(grammar), second(grammar);
  const auto left = first.next(first.start(), R"({"a": [[1, {"b": "c)");

  const auto taken = second.take_over(first, left);

  EXPECT_TRUE(second.accepts(second.next(taken, "\"}]]}")));
  EXPECT_EQ(second.next(taken, "\"}}"), Matcher::dead);
  EXPECT_EQ(second.next(second.start(), R"({"a": [[1, {"b": "c)"), taken);
}

TEST(Matcher, KeepsItsBoundOfStates) {
  Matcher matcher(compiled(R"(root ::= "a"{0,1000})"), {.states_max = 100});

  EXPECT_LT(matcher.next(matcher.start(), std::string(99, 'a')), Matcher::full);
  EXPECT_EQ(matcher.next(matcher.start(), std::string(100, 'a')), Matcher::full);
  EXPECT_EQ(matcher.states(), 100u);
}

}  // namespace
}  // namespace weft::grammar
