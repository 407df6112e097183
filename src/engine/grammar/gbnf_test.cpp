// Tests the meaning of grammars, and the exact message for each mistake in them.
#include "engine/grammar/gbnf.h"

#include <gtest/gtest.h>

#include <memory>

#include "engine/grammar/matcher.h"

namespace weft::grammar {
namespace {

bool takes(Matcher& matcher, std::string_view text) {
  const Matcher::State state = matcher.next(matcher.start(), text);
  return state < Matcher::full && matcher.accepts(state);
}

struct Meaning {
  std::string_view grammar;
  std::vector<std::string_view> taken;
  std::vector<std::string_view> refused;
};

TEST(Gbnf, TextsAreTakenAndRefusedAsWritten) {
  const Meaning meanings[] = {
      {R"(root ::= "a" "b" | "c")", {"ab", "c"}, {"", "a", "abc", "d"}},
      {R"(root ::= ("x" | "y")+ "z"?)", {"x", "yxz", "yyyy"}, {"", "z", "xzz"}},
      {R"(root ::= [a-c0-9_]* )", {"", "a1_", "ccc"}, {"d", "a-"}},
      {R"(root ::= [^a\n] [\]\-\\])", {"b]", "]-", "é\\"}, {"a]", "\n]", "b"}},
      {R"(root ::= "\u00e9\x41\U0001F600\t\"")", {"éA😀\t\""}, {"eA😀\t\""}},
      {R"(root ::= "a"{2} "b"{1,2} "c"{,2} "d"{2,})",
       {"aabdd", "aabbccddd"},
       {"abdd", "aabbbdd", "aabcccdd", "aabd"}},
      {"root ::= ( \"a\" \n # two\n \"b\" )* end\nend ::= .", {"é", "abx", "ababb"}, {"", "ab"}},
      {"root ::=\n  \"a\" |\n  \"b\"\n  | \"c\"\n\n# the end", {"a", "b", "c"}, {"d"}},
      {R"g(root ::= "(" root ")" root | "")g", {"", "()", "(())()"}, {"(", ")("}},
      {R"(root ::= ("a"?)* "b")", {"b", "aab"}, {"a"}},
      {R"(root ::= a a
a ::= "x" | "")",
       {"", "x", "xx"},
       {"xxx"}},
      {"root ::= \"a\" # \"b\"\r\nother ::= \"c\"\r\n", {"a"}, {"ab", "c"}},
      {R"(root ::= "a"{0} "b")", {"b"}, {"ab"}}};
  for (const Meaning& meaning : meanings) {
    auto grammar = parse_gbnf(meaning.grammar);
    ASSERT_TRUE(grammar) << meaning.grammar << ": " << grammar.error().message;
    Matcher matcher(std::make_shared<const Grammar>(std::move(*grammar)));
    for (const auto text : meaning.taken)
      EXPECT_TRUE(takes(matcher, text)) << meaning.grammar << " " << text;
    for (const auto text : meaning.refused)
      EXPECT_FALSE(takes(matcher, text)) << meaning.grammar << " " << text;
  }
}

TEST(Gbnf, MistakesAreToldExactly) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"", "The grammar has no rule 'root', with which every text begins."},
      {"other ::= \"a\"", "The grammar has no rule 'root', with which every text begins."},
      {"root ::= \"a\" word", "Line 1, column 14 of the grammar: the rule 'word' is not defined."},
      {"root ::= \"a\"\nroot ::= \"b\"",
       "Line 2, column 1 of the grammar: the rule 'root' is defined a second time."},
      {"root = \"a\"", "Line 1, column 6 of the grammar: '::=' is expected after the name 'root'."},
      {"root ::= \"a",
       "Line 1, column 12 of the grammar: the literal has no end; '\"' is expected."},
      {"root ::= [a", "Line 1, column 12 of the grammar: the class has no end; ']' is expected."},
      {"root ::= []", "Line 1, column 10 of the grammar: the class has no character in it."},
      {"root ::= [z-a]",
       "Line 1, column 14 of the grammar: the range in the class ends before it begins."},
      {"root ::= (\"a\"",
       "Line 1, column 14 of the grammar: ')' is expected, not the end of the text."},
      {"root ::= \"a\" )", "Line 1, column 14 of the grammar: ')' is not expected here."},
      {"root ::= \"\\q\"",
       "Line 1, column 11 of the grammar: an unknown escape; known are n t r x u U and \\ \" [ ] - "
       "^."},
      {"root ::= \"\\x4\"", "Line 1, column 14 of the grammar: 2 hexadecimal digits are expected."},
      {"root ::= \"\\ud800\"", "Line 1, column 17 of the grammar: U+D800 is not a character."},
      {"root ::= \"a\"{3,2}",
       "Line 1, column 17 of the grammar: a repetition of at least 3 and at most 2 times."},
      {"root ::= \"a\"{}",
       "Line 1, column 14 of the grammar: a number is expected in the repetition."},
      {"root ::= \"a\"{99999}",
       "Line 1, column 19 of the grammar: a repetition of more than 65536 times."},
      {"root ::= \"é\" é", "Line 1, column 14 of the grammar: 'é' is not expected here."},
      {"root ::= root \"a\" | \"b\"",
       "The rule 'root' begins with itself (left recursion); let it begin with something else, and "
       "repeat with *."},
      {"root ::= a \"c\"\na ::= b? root \"b\" | \"x\"\nb ::= \"b\"",
       "The rule 'root' begins with itself (left recursion); let it begin with something else, and "
       "repeat with *."},
      {"root ::= \"a\" b\nb ::= \"b\" root",
       "The rule 'root' never comes to an end: each of its alternatives needs it again."},
      {"root ::= \"\xff\"", "Line 1, column 11 of the grammar: is not UTF-8."}};
  for (const auto& [text, message] : rows) {
    const auto grammar = parse_gbnf(text);
    ASSERT_FALSE(grammar) << text;
    EXPECT_EQ(grammar.error().message, message) << text;
  }
}

TEST(Gbnf, LargeGrammarsAreRefusedInsteadOfWrittenOut) {
  std::string nested = "root ::= \"a\"";
  for (int i = 0; i < 6; ++i) nested += "{1000}";

  const auto grammar = parse_gbnf(
      "root ::= (((\"a\"){1000} \"b\"){0,60000} \"c\"){0,60000} x{0,60000} x{0,60000} "
      "\"c\"{0,65536} \"c\"{0,65536} \"c\"{0,65536} \"c\"{0,65536}\nx ::= \"x\"{0,60000}");
  const auto parentheses = parse_gbnf("root ::= " + std::string(100, '(') + "\"a\"");

  ASSERT_FALSE(grammar);
  EXPECT_EQ(grammar.error().code, ErrorCode::resource_exhausted);
  // In `nested`, each rule refers to another rule and has 1000 symbols.
  EXPECT_TRUE(parse_gbnf(nested));
  ASSERT_FALSE(parentheses);
  EXPECT_EQ(parentheses.error().message,
            "Line 1, column 74 of the grammar: parentheses are nested more than 64 deep.");
}

}  // namespace
}  // namespace weft::grammar
