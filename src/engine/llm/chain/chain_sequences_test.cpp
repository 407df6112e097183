#include "engine/llm/chain/chain_sequences.h"

#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/run_now.h"
#include "engine/llm/test_expected.h"

namespace weft::llm {
namespace {

// The first of two stages, whose engine reads the rows that go through it.
class ChainSequencesTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto path = weft::test::find_data("models/tiny-llama-chat-q8_0.gguf");
    if (!path) GTEST_SKIP() << weft::test::missing_data("models/tiny-llama-chat-q8_0.gguf");
    model_ = std::move(*test::open_model(*path));
    first_ =
        create_cpu_engine(model_->model, *model_->source,
                          {.layers = {0, 1}, .context = 64, .sequences = 2, .kv = KvFormat::f32}, 1)
            .value();
    sequences_ = std::make_unique<ChainSequences>(*first_);
  }
  void read(SequenceId id, const std::vector<Token>& tokens) {
    ASSERT_TRUE(run_now(first_->forward_tokens(id, tokens)).has_value());
    sequences_->read(id, tokens);
  }
  // Sends the last drawn token through the first stage, and draws `token` after it.
  void draw(SequenceId id, Token token) {
    if (const auto row = sequences_->take_row(id)) {
      ASSERT_TRUE(run_now(first_->forward_tokens(id, {*row})).has_value());
      sequences_->passed(id);
    }
    sequences_->drew(id, {.token = token, .logprob = -1});
  }

  std::unique_ptr<test::OpenModel> model_;
  std::shared_ptr<Engine> first_;
  std::unique_ptr<ChainSequences> sequences_;
};

TEST_F(ChainSequencesTest, WhatIsDrawnAheadIsKnownWhenItIsHandedOut) {
  const SequenceId id = sequences_->open().value();
  read(id, {40, 41, 42});
  EXPECT_EQ(sequences_->length(id), 3u);
  for (const Token token : {50, 51, 52}) draw(id, token);
  EXPECT_EQ(sequences_->ahead(id), 3u);
  EXPECT_EQ(sequences_->fed(id), 5u);
  EXPECT_EQ(sequences_->length(id), 3u);
  EXPECT_EQ(sequences_->hand_out(id).token, 50);
  EXPECT_EQ(sequences_->length(id), 4u);
  EXPECT_EQ(sequences_->hand_out(id).token, 51);
  EXPECT_EQ(sequences_->hand_out(id).token, 52);
  EXPECT_EQ(sequences_->length(id), 6u);
  EXPECT_EQ(sequences_->ahead(id), 0u);
}

TEST_F(ChainSequencesTest, SettlingGoesBackToTheTokenThatWasHandedOutLast) {
  const SequenceId id = sequences_->open().value();
  read(id, {40, 41, 42});
  for (const Token token : {50, 51, 52}) draw(id, token);
  EXPECT_EQ(sequences_->hand_out(id).token, 50);

  sequences_->settle(id);
  EXPECT_EQ(sequences_->ahead(id), 0u);
  EXPECT_EQ(sequences_->length(id), 4u);
  EXPECT_EQ(sequences_->fed(id), 3u);
  EXPECT_EQ(first_->length(id), 3u);
  EXPECT_EQ(sequences_->take_row(id), 50);
}

TEST_F(ChainSequencesTest, SettlingBeforeATokenWasHandedOutReadsThePromptsLastOneAgain) {
  const SequenceId id = sequences_->open().value();
  read(id, {40, 41, 42});
  for (const Token token : {50, 51}) draw(id, token);

  sequences_->settle(id);
  EXPECT_EQ(sequences_->length(id), 3u);
  EXPECT_EQ(first_->length(id), 2u);
  EXPECT_EQ(sequences_->take_row(id), 42);
}

TEST_F(ChainSequencesTest, SettlingChangesNothingIfAllIsHandedOut) {
  const SequenceId id = sequences_->open().value();
  read(id, {40});
  draw(id, 50);
  EXPECT_EQ(sequences_->hand_out(id).token, 50);
  sequences_->settle(id);
  EXPECT_EQ(sequences_->length(id), 2u);
  EXPECT_EQ(sequences_->fed(id), 1u);
  EXPECT_EQ(sequences_->take_row(id), 50);
}

TEST_F(ChainSequencesTest, GoesBackToAnyPlaceThatACallerKnows) {
  const SequenceId id = sequences_->open().value();
  read(id, {40, 41, 42});
  for (const Token token : {50, 51, 52}) draw(id, token);
  EXPECT_EQ(sequences_->hand_out(id).token, 50);

  EXPECT_EQ(sequences_->rewind(id, 9), 4u) << "no caller knows of so many";
  EXPECT_EQ(sequences_->rewind(id, 4), 4u);
  EXPECT_EQ(sequences_->ahead(id), 2u) << "it is there already";
  EXPECT_EQ(sequences_->rewind(id, 2), 2u);
  EXPECT_EQ(sequences_->ahead(id), 0u);
  EXPECT_EQ(sequences_->length(id), 2u);
  EXPECT_EQ(first_->length(id), 2u);
  EXPECT_EQ(sequences_->take_row(id), std::nullopt);
}

TEST_F(ChainSequencesTest, ClosesInTheFirstStageWhatIsOpenAtItsEnd) {
  ASSERT_TRUE(sequences_->open().has_value());
  const SequenceId second = sequences_->open().value();
  EXPECT_EQ(sequences_->count(), 2u);
  sequences_->close(second);
  EXPECT_EQ(sequences_->count(), 1u);
  sequences_.reset();
  EXPECT_TRUE(first_->open().has_value());
  EXPECT_TRUE(first_->open().has_value());
}

}  // namespace
}  // namespace weft::llm
