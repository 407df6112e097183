// Tests that a client's text of an answer depends only on the token ids, and not on anything else
// that a worker sends.
#include "apps/coordinator/http/answer_writer.h"

#include <gtest/gtest.h>

namespace weft::coordinator {
namespace {

using Tokens = std::vector<protocol::serving::Token>;

enum : std::int32_t { to, half, other_half, end, mark, control, stop_begin, stop_end };

std::shared_ptr<const TokenTexts> table() {
  TokenTexts out;
  EXPECT_TRUE(out.add(" To", {}));
  EXPECT_TRUE(out.add("\xE2\x82", {}));
  EXPECT_TRUE(out.add("\xAC", {}));
  EXPECT_TRUE(out.add("<end>", {.is_control = true, .ends_answer = true}));
  EXPECT_TRUE(out.add("<tool_call>", {.is_control = true, .marks_a_call = true}));
  EXPECT_TRUE(out.add("<control>", {.is_control = true}));
  EXPECT_TRUE(out.add("ST", {}));
  EXPECT_TRUE(out.add("OP!", {}));
  return std::make_shared<const TokenTexts>(std::move(out));
}

std::string said(AnswerWriter& writer, const std::vector<std::int32_t>& ids) {
  std::string out;
  for (const std::int32_t id : ids) {
    for (const SaidToken& token : writer.write(Tokens{{.id = id}})) out += token.text;
  }
  return out;
}

TEST(AnswerWriter, SaysWhatTheTokensSayAndWholeCharactersOnly) {
  AnswerWriter writer(table(), {});

  EXPECT_EQ(said(writer, {to, half}), " To");
  EXPECT_EQ(said(writer, {other_half, control, mark, end}), "\xE2\x82\xAC");
  EXPECT_EQ(writer.finish(), "");
}

TEST(AnswerWriter, TellsOfEachTokenByItselfButNotOfTheOneThatEndsIt) {
  AnswerWriter writer(table(), {});

  const auto tokens = writer.write(
      Tokens{{.id = half, .logprob = -1, .top = {{.id = to, .logprob = -2}}}, {.id = end}});

  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens[0].text, "");
  EXPECT_EQ(tokens[0].piece, "\xE2\x82");
  ASSERT_EQ(tokens[0].top.size(), 1u);
  EXPECT_EQ(tokens[0].top[0].piece, " To");
  EXPECT_EQ(tokens[1].piece, "");
  EXPECT_EQ(writer.finish(), "\xEF\xBF\xBD\xEF\xBF\xBD") << "of two bytes that never became whole";
}

TEST(AnswerWriter, EndsBeforeAStopTextWhateverTheWorkerGoesOnWith) {
  AnswerWriter writer(table(), {.stop = {"STOP"}});

  EXPECT_EQ(said(writer, {to, stop_begin}), " To");
  EXPECT_FALSE(writer.stopped());
  EXPECT_EQ(said(writer, {stop_end, to, to}), "");
  EXPECT_TRUE(writer.stopped());
  EXPECT_EQ(writer.finish(), "");
}

TEST(AnswerWriter, TellsWhatMightHaveBeenAStopTextAtTheEnd) {
  AnswerWriter writer(table(), {.stop = {"STOP"}});
  EXPECT_EQ(said(writer, {stop_begin, end}), "");
  EXPECT_EQ(writer.finish(), "ST");
}

TEST(AnswerWriter, WritesMarksOfCallsAndThoughtsWhereTheyBelong) {
  AnswerWriter writer(table(), {.shows_calls = true, .begins_in_thought = true});
  EXPECT_EQ(said(writer, {to, mark, control}), "<think> To<tool_call>");
}

TEST(AnswerWriter, NumbersThatAreNoTokensSayNothing) {
  AnswerWriter writer(table(), {});
  EXPECT_EQ(said(writer, {-1, 8, 1 << 30, to}), " To");
}

TEST(TokenTexts, RefusesAVocabularyPastItsBound) {
  TokenTexts out;
  const std::string long_text(TokenTexts::bytes_max, 'a');
  EXPECT_TRUE(out.add(long_text, {}));
  EXPECT_FALSE(out.add("b", {}));
}

}  // namespace
}  // namespace weft::coordinator
