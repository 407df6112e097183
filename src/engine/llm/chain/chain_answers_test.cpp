#include "engine/llm/chain/chain_answers.h"

#include <gtest/gtest.h>

namespace weft::llm {
namespace {

class ChainAnswersTest : public testing::Test {
 protected:
  static ChainFrame drawn(std::uint32_t ticket, Token token) {
    return {.kind = ChainFrame::Kind::drawn, .ticket = ticket, .tokens = {token}, .values = {-1}};
  }
  static Result<ChainFrame> of(const ChainAnswers::Answer& answer) { return answer.await_resume(); }

  Config config_ = [] {
    Config out;
    out.vocabulary = 8;
    out.embedding = 2;
    return out;
  }();
  ChainAnswers answers_{config_};
};

TEST_F(ChainAnswersTest, EachTicketGetsItsOwnAnswer) {
  const std::uint32_t one = answers_.ticket(), other = answers_.ticket();
  EXPECT_NE(one, 0u);
  EXPECT_NE(one, other);
  const auto first = answers_.wait(one), second = answers_.wait(other);
  ASSERT_TRUE(answers_.receive(drawn(other, 5)).has_value());
  EXPECT_FALSE(first.is_set());
  ASSERT_TRUE(answers_.receive(drawn(one, 3)).has_value());
  EXPECT_EQ(of(first)->tokens[0], 3);
  EXPECT_EQ(of(second)->tokens[0], 5);
  // A second answer with the same ticket answers no request, and is ignored.
  EXPECT_TRUE(answers_.receive(drawn(one, 4)).has_value());
}

TEST_F(ChainAnswersTest, AFaultFailsItsOwnQuestion) {
  const std::uint32_t one = answers_.ticket(), other = answers_.ticket();
  const auto first = answers_.wait(one), second = answers_.wait(other);
  ASSERT_TRUE(answers_
                  .receive({.kind = ChainFrame::Kind::fault,
                            .ticket = one,
                            .code = ErrorCode::unavailable,
                            .message = "no room"})
                  .has_value());
  EXPECT_EQ(of(first).error().message, "no room");
  EXPECT_FALSE(second.is_set());
  EXPECT_FALSE(answers_.lost().has_value());
}

TEST_F(ChainAnswersTest, AFaultOfRowsOfWhichNothingWasAskedEndsTheChain) {
  const auto answer = answers_.wait(answers_.ticket());
  ASSERT_TRUE(answers_.receive({.kind = ChainFrame::Kind::fault, .ticket = 0, .message = "no room"})
                  .has_value());
  EXPECT_EQ(of(answer).error().message, "no room");
  EXPECT_EQ(answers_.lost()->message, "no room");
}

TEST_F(ChainAnswersTest, AfterALossEveryAnswerFails) {
  const auto before = answers_.wait(answers_.ticket());
  answers_.lose({ErrorCode::unavailable, "gone"});
  answers_.lose({ErrorCode::unavailable, "gone again"});
  EXPECT_EQ(of(before).error().message, "gone");
  const auto after = answers_.wait(answers_.ticket());
  ASSERT_TRUE(after.is_set()) << "it would be waited for without end";
  EXPECT_EQ(of(after).error().message, "gone");
}

TEST_F(ChainAnswersTest, WhatWasNotSentIsForgotten) {
  const std::uint32_t ticket = answers_.ticket();
  const auto answer = answers_.wait(ticket);
  answers_.forget(ticket);
  answers_.lose({ErrorCode::unavailable, "gone"});
  EXPECT_FALSE(answer.is_set());
}

TEST_F(ChainAnswersTest, RefusesWhatIsNoAnswer) {
  const std::uint32_t ticket = answers_.ticket();
  const auto answer = answers_.wait(ticket);
  ChainFrame two = drawn(ticket, 1);
  two.tokens.push_back(2);
  for (const ChainFrame& frame : {
           drawn(ticket, -1),
           drawn(ticket, 8),
           two,
           ChainFrame{.kind = ChainFrame::Kind::logits, .ticket = ticket, .values = {1, 2, 3}},
           ChainFrame{.kind = ChainFrame::Kind::hidden, .ticket = ticket, .values = {1, 2, 3}},
           ChainFrame{.kind = ChainFrame::Kind::pass, .ticket = ticket},
           ChainFrame{.kind = ChainFrame::Kind::together, .ticket = ticket},
           ChainFrame{.kind = ChainFrame::Kind::close, .ticket = ticket},
       }) {
    const auto taken = answers_.receive(frame);
    ASSERT_FALSE(taken.has_value()) << static_cast<int>(frame.kind);
    EXPECT_EQ(taken.error().message, "The chain's last stage sends a frame that is not an answer.");
  }
  EXPECT_FALSE(answer.is_set());
  EXPECT_TRUE(answers_.receive({.kind = ChainFrame::Kind::commit}).has_value());
}

}  // namespace
}  // namespace weft::llm
