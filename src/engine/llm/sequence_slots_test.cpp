// Which sequence a prompt is given: the one that has read most of it, room that idle ones give up,
// and nothing of an answer that failed.
#include "engine/llm/sequence_slots.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "common/base/test_data.h"
#include "engine/gguf/file.h"
#include "engine/gguf/mapped_file.h"

namespace weft::llm {
namespace {

// Keeps lengths and memory of sequences, and computes nothing.
class CountingEngine final : public Engine {
 public:
  CountingEngine(std::uint32_t sequences, std::uint32_t positions) : memory(positions) {
    options_.sequences = sequences;
    options_.context = 1000;
  }
  const Config& config() const override { return config_; }
  const EngineOptions& options() const override { return options_; }
  std::string device() const override { return "none"; }
  EngineCounters counters() const override { return {}; }
  Result<SequenceId> open() override {
    const SequenceId id{next_++};
    lengths[id] = 0;
    return id;
  }
  void close(SequenceId id) override {
    lengths.erase(id);
    reserved.erase(id);
  }
  std::uint32_t length(SequenceId id) const override { return lengths.at(id); }
  std::uint32_t rewind(SequenceId id, std::uint32_t length) override {
    return lengths.at(id) = std::min(lengths.at(id), length);
  }
  Result<> reserve(SequenceId id, std::uint32_t positions) override {
    std::uint32_t others = 0;
    for (const auto& [other, taken] : reserved) others += other == id ? 0 : taken;
    // What a sequence has read stays in memory.
    const std::uint32_t wanted = std::max(positions, lengths.at(id));
    if (others + wanted > memory) return fail(ErrorCode::resource_exhausted, "full");
    reserved[id] = wanted;
    return {};
  }
  std::uint32_t share(SequenceId from, SequenceId to, std::uint32_t length) override {
    return lengths.at(to) = std::min(length, lengths.at(from));
  }
  void set_sampling(SequenceId, const Sampling&) override {}
  Async<Result<>> append(SequenceId, std::vector<Token>) override { co_return Result<>(); }
  Async<Result<std::vector<float>>> logits(SequenceId) override { co_return none(); }
  Async<Result<std::vector<Drawn>>> draw(std::vector<SequenceId>, std::uint32_t) override {
    co_return fail(ErrorCode::unsupported, "draws nothing");
  }
  Async<Result<std::vector<float>>> forward(SequenceId, std::vector<float>) override {
    co_return none();
  }
  Async<Result<std::vector<float>>> forward_tokens(SequenceId, std::vector<Token>) override {
    co_return none();
  }

  std::map<SequenceId, std::uint32_t> lengths, reserved;
  std::uint32_t memory;  // Positions of all sequences.

 private:
  static Result<std::vector<float>> none() {
    return fail(ErrorCode::unsupported, "computes nothing");
  }
  Config config_;
  EngineOptions options_;
  std::uint32_t next_ = 0;
};

std::vector<Token> counted(std::size_t count, Token from = 0) {
  std::vector<Token> out(count);
  std::iota(out.begin(), out.end(), from);
  return out;
}

struct SequenceSlotsTest : testing::Test {
  // Answers `prompt` in a slot, which has then read all of it; null if none is free or has room.
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
  static const tokenizer::Tokenizer& tokenizer() {
    static const auto made = [] {
      const auto path = test::find_data("models/tiny-llama-chat-q8_0.gguf");
      const auto source = gguf::MappedFile::open(path->string()).value();
      return tokenizer::Tokenizer::create(gguf::read_file(*source).value().metadata).value();
    }();
    return *made;
  }

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
  slot->unread = 4;  // Taken for the answer, and not given to the engine.
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
  engine.memory = 2000;  // Idle ones have 1,800 of them.

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
