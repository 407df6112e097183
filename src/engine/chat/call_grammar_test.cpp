// Tests that every text of a grammar of calls is read as calls of the tools that were offered.
#include "engine/chat/call_grammar.h"

#include <gtest/gtest.h>

#include "common/tools/answer_parser.h"
#include "engine/chat/test_tools.h"
#include "engine/grammar/gbnf.h"
#include "engine/grammar/test_walk.h"

namespace weft::chat {
namespace {

const std::string input = R"({"messages":[],"tools":)" + std::string(samples::offered_tools) + "}";

std::vector<tools::Piece> pieces_of(std::string_view answer) {
  tools::AnswerParser parser(tools::read_tools(samples::offered_tools).value());
  std::vector<tools::Piece> out = parser.push(answer);
  const auto rest = parser.finish(true);
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

TEST(CallGrammar, WritesCallsThatAreReadAsSuch) {
  std::mt19937_64 random(31);
  for (const samples::ToolTemplate& one : samples::tool_templates) {
    const std::string source = samples::template_source(one);
    for (const bool many : {false, true}) {
      const auto made = grammar_of_calls(source, input, many ? "" : "get_weather", many);
      ASSERT_TRUE(made) << one.file << ": " << made.error().message;
      auto grammar = grammar::parse_gbnf(made->gbnf);
      ASSERT_TRUE(grammar) << grammar.error().message << made->gbnf;
      grammar::Matcher matcher(std::make_shared<const grammar::Grammar>(std::move(*grammar)));
      for (int round = 0; round < 40; ++round) {
        const auto text = grammar::test::random_text(matcher, random, 1 + random() % 300);
        ASSERT_TRUE(text);
        const auto pieces = pieces_of(made->mark + *text);
        ASSERT_FALSE(pieces.empty());
        ASSERT_TRUE(many || pieces.size() == 1) << one.file << " " << *text;
        for (const tools::Piece& piece : pieces) {
          ASSERT_EQ(piece.kind, tools::Piece::Kind::call) << one.file << " " << *text;
          if (!many) {
            ASSERT_EQ(piece.name, "get_weather");
          }
        }
      }
    }
  }
}

TEST(CallGrammar, SaysWhatCannotBeCalled) {
  const auto none = grammar_of_calls("", R"({"messages":[]})", "", true);
  const auto other = grammar_of_calls("", input, "nothing", true);
  const auto schema = grammar_of_calls(
      "", R"({"tools":[{"function":{"name":"f","parameters":{"not":{}}}}]})", "", true);

  EXPECT_EQ(none.error().message, "There is no tool that the answer could call.");
  EXPECT_EQ(other.error().message, "There is no tool that the answer could call.");
  EXPECT_EQ(schema.error().message,
            "The schema's keyword 'not' at # is not supported. - while reading the tools' "
            "parameters");
}

}  // namespace
}  // namespace weft::chat
