// Waiting requests: a request that can never be answered is refused at once. Any other request
// begins, in order of arrival, when there is a sequence and memory for its whole answer.
#include "engine/llm/answer_queue.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/llm/test_counting_engine.h"

namespace weft::llm {
namespace {

using Ends = std::map<Token, Result<Generation>>;

class AnswerQueueTest : public testing::Test {
 protected:
  // A request whose prompt is `tokens` times the token `name`.
  static Request request(Token name, std::size_t tokens = 10, std::uint32_t tokens_max = 100) {
    Request out{.prompt = std::vector<Token>(tokens, name), .tokens_max = tokens_max};
    return out;
  }
  void add(Request request) {
    const Token name = request.prompt[0];
    ASSERT_TRUE(queue_.add(std::move(request), {}, [this, name](Result<Generation> done) {
      ends_.emplace(name, std::move(done));
    }));
  }
  // The first token of each prompt that is being answered.
  [[nodiscard]] std::vector<Token> answered() const {
    std::vector<Token> out;
    for (const auto& slot : slots_.all())
      if (slot->answer) out.push_back(slot->answer->request.prompt[0]);
    return out;
  }
  void end_first() {
    for (const auto& slot : slots_.all()) {
      if (!slot->answer) continue;
      (void)slots_.release(*slot);
      queue_.on_end();
      return;
    }
  }

  test::CountingEngine engine_{2, 1000};
  SequenceSlots slots_{engine_};
  AnswerQueue queue_{engine_, test::small_tokenizer(), slots_};
  Ends ends_;
};

using Names = std::vector<Token>;

TEST_F(AnswerQueueTest, RefusesWhatCanNeverBeAnswered) {
  const auto code_of = [&](Request request) {
    return queue_.add(std::move(request), {}, {}).error().code;
  };

  EXPECT_EQ(code_of({}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(request(1, 1000)), ErrorCode::resource_exhausted);
  Request biased = request(1), temperature = request(1), candidates = request(1);
  biased.bias = {{.token = 1'000'000, .bias = 1}};
  temperature.sampling.temperature = -1;
  candidates.top = 257;
  EXPECT_EQ(code_of(std::move(biased)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(std::move(temperature)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(std::move(candidates)), ErrorCode::invalid_argument);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(AnswerQueueTest, BeginsInTheirOrderWhileSequencesAreFree) {
  for (const Token name : {1, 2, 3}) add(request(name));

  ASSERT_TRUE(queue_.admit());
  EXPECT_EQ(answered(), Names({1, 2}));
  EXPECT_FALSE(queue_.empty());
  end_first();
  ASSERT_TRUE(queue_.admit());

  EXPECT_EQ(answered().size(), 2u);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(AnswerQueueTest, TellsTheEngineHowAnAnswerIsDrawn) {
  Request warm = request(1);
  warm.sampling.temperature = 0.5F;
  add(std::move(warm));

  ASSERT_TRUE(queue_.admit());

  const GeneratorSlot& slot = *slots_.all().front();
  EXPECT_EQ(engine_.samplings.at(slot.sequence).temperature, 0.5F);
  EXPECT_TRUE(engine_.masks.at(slot.sequence).empty()) << "no mask of an answer before";
}

TEST_F(AnswerQueueTest, TheFirstWaitsForMemoryUntilAnAnswerEnds) {
  add(request(1, 10, 800));
  add(request(2, 10, 800));
  add(request(3, 10, 1));

  ASSERT_TRUE(queue_.admit());
  ASSERT_TRUE(queue_.admit());
  EXPECT_EQ(answered(), Names({1})) << "none overtakes";

  end_first();
  ASSERT_TRUE(queue_.admit());
  EXPECT_TRUE(std::ranges::contains(answered(), 2));
  EXPECT_TRUE(ends_.empty());
}

TEST_F(AnswerQueueTest, WhatHasNoRoomOnAnEmptyEngineFailsAlone) {
  engine_.memory = 50;
  add(request(1, 10, 800));
  add(request(2, 10, 20));

  ASSERT_TRUE(queue_.admit());

  EXPECT_EQ(ends_.at(1).error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(answered(), Names({2}));
}

TEST_F(AnswerQueueTest, WhatIsNotWantedAnyMoreLeavesFromTheMiddle) {
  bool wanted = true;
  for (const Token name : {1, 2}) add(request(name));
  Request leaving = request(3);
  leaving.wanted = [&wanted] { return wanted; };
  add(std::move(leaving));
  add(request(4));
  ASSERT_TRUE(queue_.admit());
  EXPECT_TRUE(ends_.empty());

  wanted = false;
  ASSERT_TRUE(queue_.admit());

  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_EQ(ends_.at(3)->stop, StopReason::cancelled);
  EXPECT_FALSE(queue_.empty());
}

TEST_F(AnswerQueueTest, AllThatWaitEndWithTheError) {
  for (const Token name : {1, 2}) add(request(name));

  queue_.fail_all(Error{ErrorCode::device_lost, "gone"});

  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(ends_.at(1).error().message, "gone");
  EXPECT_EQ(ends_.at(2).error().message, "gone");
}

}  // namespace
}  // namespace weft::llm
