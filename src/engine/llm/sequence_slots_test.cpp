// Tests the choice of a sequence for a prompt: the sequence that has read most of the prompt is
// chosen; idle sequences give up their memory for an answer; no answer uses the tokens of a failed
// answer.
#include "engine/llm/sequence_slots.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/llm/test_counting_engine.h"

namespace weft::llm {
namespace {

using test::CountingEngine;

std::vector<Token> counted(std::size_t count, Token from = 0) {
  std::vector<Token> out(count);
  std::iota(out.begin(), out.end(), from);
  return out;
}

struct SequenceSlotsTest : testing::Test {
  // Begins an answer to `prompt` in a slot and marks all of the prompt as read; null if no slot is
  // free or there is not enough memory.
  GeneratorSlot* answer(const std::vector<Token>& prompt, std::uint32_t tokens_max = 0) {
    GeneratorSlot* const slot = slots.free_for(prompt);
    if (slot == nullptr) return nullptr;
    kept = slots.begin_with_what_is_read(*slot, prompt);
    Request request{.prompt = prompt};
    request.tokens_max = tokens_max;
    if (!slots.reserve(*slot, request)) return nullptr;
    slot->tokens = prompt;
    engine.lengths[slot->sequence] = static_cast<std::uint32_t>(prompt.size());
    slot->answer =
        std::make_unique<RunningAnswer>(std::move(request), nullptr, nullptr, tokenizer());
    return slot;
  }
  static const tokenizer::Tokenizer& tokenizer() { return test::small_tokenizer(); }

  CountingEngine engine{3, 3000};
  SequenceSlots slots{engine};
  std::uint32_t kept = 0;
};

TEST_F(SequenceSlotsTest, GiveAPromptTheFreeSequenceThatHasReadMostOfIt) {
  GeneratorSlot* const numbers = answer(counted(10));
  GeneratorSlot* const others = answer(counted(10, 50));
  (void)slots.release(*numbers);
  (void)slots.release(*others);

  EXPECT_EQ(answer(counted(20)), numbers);
  EXPECT_EQ(kept, 10U);
  EXPECT_EQ(answer(counted(20, 50)), others);
  EXPECT_EQ(engine.lengths.size(), 2U);
}

TEST_F(SequenceSlotsTest, PreferAFreshSequenceToOneThatMustForgetEverything) {
  GeneratorSlot* const first = answer(counted(10));
  (void)slots.release(*first);

  GeneratorSlot* const second = answer(counted(10, 50));
  EXPECT_NE(second, first);
  (void)slots.release(*second);
  (void)slots.release(*answer(counted(10, 90)));
  ASSERT_EQ(engine.lengths.size(), 3U);
  EXPECT_EQ(answer(counted(10, 130)), first) << "the one that was used the longest time ago";
  EXPECT_EQ(kept, 0U);
}

TEST_F(SequenceSlotsTest, HaveNoneWhileAllAnswer) {
  for (Token from : {0, 20, 40}) ASSERT_NE(answer(counted(10, from)), nullptr);

  EXPECT_TRUE(slots.any_answers());
  EXPECT_EQ(slots.free_for(counted(10)), nullptr);
}

TEST_F(SequenceSlotsTest, LeaveATokenToBeReadAndTakeNothingThatWasNotRead) {
  GeneratorSlot* const slot = answer(counted(10));
  slot->unread = 4;  // Tokens that the engine was not given.
  engine.lengths[slot->sequence] = 6;
  (void)slots.release(*slot);
  EXPECT_EQ(slot->tokens, counted(6));

  EXPECT_EQ(answer(counted(6)), slot);
  EXPECT_EQ(kept, 5U);
}

TEST_F(SequenceSlotsTest, ShareWhatAnAnsweringSequenceHasReadIfItIsMuch) {
  ASSERT_NE(answer(counted(200)), nullptr);

  ASSERT_NE(answer(counted(300)), nullptr);
  EXPECT_EQ(kept, 200U);
  std::vector<Token> short_one = counted(60);
  short_one.push_back(999);
  ASSERT_NE(answer(short_one), nullptr);
  EXPECT_EQ(kept, 0U) << "not worth it";
}

TEST_F(SequenceSlotsTest, GiveUpWhatIdleSequencesHaveReadForTheRoomOfAnAnswer) {
  GeneratorSlot* const oldest = answer(counted(900));
  GeneratorSlot* const newer = answer(counted(900, 2000));
  const SequenceId gone = oldest->sequence, stays = newer->sequence;
  (void)slots.release(*oldest);
  (void)slots.release(*newer);
  engine.memory = 2000;  // The idle sequences hold 1,800 of these positions.

  ASSERT_NE(answer(counted(500, 5000), 400), nullptr);

  EXPECT_FALSE(engine.lengths.contains(gone)) << "the one that was used the longest time ago";
  EXPECT_TRUE(engine.lengths.contains(stays));
}

TEST_F(SequenceSlotsTest, CannotTakeRoomFromAnswers) {
  CountingEngine small(2, 1500);
  SequenceSlots two(small);
  GeneratorSlot* const first = two.free_for(counted(10));
  ASSERT_TRUE(two.reserve(*first, {.prompt = counted(10), .tokens_max = 900}));
  first->answer = std::make_unique<RunningAnswer>(Request{.prompt = counted(10)}, nullptr, nullptr,
                                                  tokenizer());
  GeneratorSlot* const second = two.free_for(counted(10, 50));

  const Request much{.prompt = counted(10, 50), .tokens_max = 900};
  EXPECT_EQ(two.reserve(*second, much).error().code, ErrorCode::resource_exhausted);

  const SequenceId freed = first->sequence;
  (void)two.release(*first);
  EXPECT_TRUE(two.reserve(*second, much));
  EXPECT_TRUE(small.lengths.contains(freed)) << "it gave its room back when it ended";
}

TEST_F(SequenceSlotsTest, ForgetWhatAFailedAnswerHasRead) {
  GeneratorSlot* const slot = answer(counted(10));

  EXPECT_NE(slots.abandon(*slot), nullptr);

  EXPECT_EQ(slot->answer, nullptr);
  EXPECT_TRUE(slot->tokens.empty());
  EXPECT_EQ(engine.lengths[slot->sequence], 0U);
}

}  // namespace
}  // namespace weft::llm
