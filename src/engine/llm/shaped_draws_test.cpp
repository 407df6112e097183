// Draws among allowed tokens: the engine gets a mask when it changes, a bias changes the choice but
// not the reported probability, and an error of the engine is not blamed on an answer.
#include "engine/llm/shaped_draws.h"

#include <cmath>

#include "engine/llm/run_now.h"
#include "engine/llm/test_answers.h"

namespace weft::llm {
namespace {

using ShapedDrawsTest = test::AnswersTest;

TEST_F(ShapedDrawsTest, AMaskIsSetOnceWhileTheSameTokensAreAllowed) {
  Request request = asked(100);
  request.constraint = held_to("root ::= [a-z]{50}");
  GeneratorSlot& slot = begin(std::move(request));
  const int before = engine_.masks_set;

  ASSERT_TRUE(run_now(shaped_.mask(slot)));
  ASSERT_TRUE(run_now(shaped_.mask(slot)));

  EXPECT_EQ(engine_.masks_set, before + 1);
  EXPECT_FALSE(engine_.masks.at(slot.sequence).empty());
}

TEST_F(ShapedDrawsTest, ABiasDecidesAndTheProbabilityIsTheModels) {
  const Token favoured = tokens("b")[0];
  engine_.logits_said.assign(tokenizer().vocabulary().size(), 0);
  Request request = asked(100);
  request.bias = {{.token = favoured, .bias = 5}};
  GeneratorSlot& slot = begin(std::move(request));

  ASSERT_TRUE(run_now(shaped_.draw(slot)));

  ASSERT_EQ(slot.answer->generation.tokens.size(), 1u);
  EXPECT_EQ(slot.answer->generation.tokens[0].id, favoured);
  EXPECT_NEAR(slot.answer->generation.tokens[0].logprob,
              -std::log(static_cast<float>(engine_.logits_said.size())), 1e-4);
  EXPECT_EQ(slot.unread, 1u);
}

TEST_F(ShapedDrawsTest, WhatTheEngineCannotDoIsNoEndOfTheAnswerAlone) {
  Request request = asked(100);
  request.bias = {{.token = 5, .bias = 5}};
  GeneratorSlot& slot = begin(std::move(request));  // The engine has no logits.

  EXPECT_FALSE(run_now(shaped_.draw(slot)));

  EXPECT_FALSE(done_.has_value());
  EXPECT_NE(slot.answer, nullptr);
}

}  // namespace
}  // namespace weft::llm
