// Tests AnswerProgress: answers end at their bounds, stop texts and constraints; hidden states are
// reported; tokens that a constraint fixes are part of the answer; an answer that fails fails alone
// and frees its sequence.
#include "engine/llm/answer_progress.h"

#include "engine/llm/run_now.h"
#include "engine/llm/test_answers.h"

namespace weft::llm {
namespace {

using AnswerProgressTest = test::AnswersTest;

TEST_F(AnswerProgressTest, EndsAtItsBound) {
  GeneratorSlot& slot = begin(asked(3));

  draw(slot, tokens("one two three four five six seven"));

  ASSERT_TRUE(done_.has_value());
  EXPECT_EQ((*done_)->stop, StopReason::length);
  EXPECT_EQ((*done_)->tokens.size(), 3u);
  EXPECT_EQ((*done_)->text, heard_);
  EXPECT_EQ(slot.answer, nullptr);
  EXPECT_EQ(slot.tokens.size(), 6u) << "the sequence keeps what it has read";
}

TEST_F(AnswerProgressTest, EndsBeforeAStopText) {
  Request request = asked(100);
  request.stop = {"three"};
  GeneratorSlot& slot = begin(std::move(request));

  draw(slot, tokens("one two three four five six seven"));

  ASSERT_TRUE(done_.has_value());
  EXPECT_EQ((*done_)->stop, StopReason::stop);
  EXPECT_EQ(heard_, "one two ");
}

TEST_F(AnswerProgressTest, EndsWhenTheListenerHasHadEnough) {
  GeneratorSlot& slot = begin(asked(100));
  listens_ = false;

  draw(slot, tokens("one two three"));

  ASSERT_TRUE(done_.has_value());
  EXPECT_EQ((*done_)->stop, StopReason::cancelled);
}

TEST_F(AnswerProgressTest, TellsOfTheStateThatADrawCameFromAndOfTheOneBehindTheEnd) {
  std::vector<std::uint32_t> told;
  Request request = asked(4);
  request.hidden_every = 2;
  request.on_hidden = [&](std::uint32_t length, std::span<const float> hidden) {
    told.push_back(length);
    EXPECT_EQ(hidden[0], 3 + static_cast<float>(length)) << "behind the prompt and the answer";
  };
  GeneratorSlot& slot = begin(std::move(request));

  draw(slot, std::vector<Token>(4, tokens("a")[0]));
  EXPECT_FALSE(done_.has_value()) << "one more draw brings the state behind the last token";
  EXPECT_EQ(engine_.kept_from, 7u);
  EXPECT_EQ(engine_.kept_every, 1u);
  draw(slot, {9});

  ASSERT_TRUE(done_.has_value());
  EXPECT_EQ((*done_)->stop, StopReason::length);
  EXPECT_EQ((*done_)->tokens.size(), 4u);
  EXPECT_EQ(told, std::vector<std::uint32_t>({0, 2, 4}));
}

TEST_F(AnswerProgressTest, TakesWhatAConstraintFixesAndEndsWhatItCompletes) {
  Request request = asked(100);
  request.constraint = held_to(R"(root ::= "yes, that is so: " [0-9])");
  GeneratorSlot& slot = begin(std::move(request));

  ASSERT_TRUE(progress_.take_forced(slot));
  EXPECT_GT(slot.unread, 0u) << "the engine has not read them";
  EXPECT_FALSE(done_.has_value());
  ASSERT_TRUE(run_now(reader_.feed(slot, true)));
  EXPECT_EQ(slot.unread, 0u);
  const std::vector<Token> rest = tokens("yes, that is so: 7");
  ++engine_.lengths.at(slot.sequence);
  for (std::size_t i = slot.tokens.size() - 3; i < rest.size() && slot.answer; ++i)
    ASSERT_TRUE(run_now(progress_.take_masked(slot, rest[i])));

  ASSERT_TRUE(done_.has_value());
  EXPECT_EQ((*done_)->stop, StopReason::eos);
  EXPECT_EQ((*done_)->text, "yes, that is so: 7");
}

TEST_F(AnswerProgressTest, ATokenThatAConstraintForbidsFailsItsAnswerAlone) {
  Request request = asked(100);
  request.constraint = held_to("root ::= [0-9]{5}");
  GeneratorSlot& slot = begin(std::move(request));

  ASSERT_TRUE(run_now(progress_.take_masked(slot, tokens("x")[0]))) << "the engine goes on";

  ASSERT_TRUE(done_.has_value());
  EXPECT_FALSE(done_->has_value());
  EXPECT_EQ(slot.answer, nullptr);
  EXPECT_TRUE(slot.tokens.empty()) << "what it has read is not believed";
}

TEST_F(AnswerProgressTest, EveryEndMakesRoomForTheOneThatWaits) {
  engine_.memory = 1000;
  GeneratorSlot& first = begin(asked(800));
  const auto waits = [&] {
    EXPECT_TRUE(queue_.add(asked(800), {}, [](const Result<Generation>&) {}));
    EXPECT_TRUE(queue_.admit());
    EXPECT_FALSE(queue_.empty());
  };
  const auto begins = [&] {
    EXPECT_TRUE(queue_.admit());
    EXPECT_TRUE(queue_.empty());
  };

  waits();
  progress_.end(first, StopReason::stop);
  begins();
  waits();
  for (const auto& slot : slots_.all())
    if (slot->answer) progress_.fail(*slot, Error{ErrorCode::internal, "gone"});
  begins();
}

}  // namespace
}  // namespace weft::llm
