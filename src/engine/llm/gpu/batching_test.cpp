// Answers of a generator on the GPU come and go, with little memory: each has the tokens and hidden
// states, to the last bit, that it has alone; a cancelled answer ends within a step.
#include <functional>
#include <map>
#include <random>

#include "engine/llm/generator.h"
#include "engine/llm/gpu/test_gpu.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::llm {
namespace {

using test::run;

struct Heard {
  std::vector<Token> tokens;
  std::vector<float> logprobs;
  std::map<std::uint32_t, std::vector<float>> hidden;
  StopReason stop = StopReason::cancelled;
  bool done = false;
};

class Batching : public test::TinyLlamaTest {
 protected:
  void SetUp() override {
    TinyLlamaTest::SetUp();
    if (IsSkipped()) return;
    tokenizer_ = tokenizer::Tokenizer::create(model_->file.metadata).value();
  }
  // The bytes of `count` pages of 64 positions.
  [[nodiscard]] std::uint64_t pages(std::uint64_t count) const {
    const Config& config = model_->model.config;
    return count * 2 * config.layers * config.attention.kv_rows() * 64 * 2;
  }
  // A request whose prompt begins with a token of its own, so that no sequence has read a part of
  // it.
  static Request question(std::size_t number, Heard& heard) {
    Request request;
    request.tokens_max = static_cast<std::uint32_t>(3 + number % 4);
    for (std::size_t i = 0; i < 5 + number * 7 % 40; ++i)
      request.prompt.push_back(static_cast<Token>(40 + number + i * 7 % 200));
    if (number % 2 == 1) request.sampling = {.temperature = 0.9f, .seed = number};
    request.hidden_every = 2;
    request.on_token = [&heard](const GeneratedToken& token, std::string_view) {
      heard.tokens.push_back(token.id);
      heard.logprobs.push_back(token.logprob);
    };
    request.on_hidden = [&heard](std::uint32_t tokens, std::span<const float> hidden) {
      EXPECT_FALSE(heard.hidden.contains(tokens)) << "each is told once";
      heard.hidden[tokens].assign(hidden.begin(), hidden.end());
    };
    return request;
  }
  static Generator::OnDone done(Heard& heard) {
    return [&heard](Result<Generation> generation) {
      ASSERT_TRUE(generation.has_value()) << generation.error().message;
      heard.stop = generation->stop;
      heard.done = true;
    };
  }
  static void expect_same(const Heard& heard, const Heard& alone, const std::string& what) {
    EXPECT_EQ(heard.tokens, alone.tokens) << what;
    EXPECT_EQ(heard.logprobs, alone.logprobs) << what;
    EXPECT_EQ(heard.hidden, alone.hidden) << what;
    EXPECT_EQ(heard.stop, alone.stop) << what;
  }

  std::unique_ptr<const tokenizer::Tokenizer> tokenizer_;
};

TEST_F(Batching, AnswersManyBitByBitAsEachAlone) {
  constexpr std::size_t count = 9;
  const auto engine = engine_of(
      *model_,
      {.context = 128, .sequences = 5, .cache_bytes = pages(3), .activations = Activations::int8});
  std::vector<Heard> alone(count);
  for (std::size_t i = 0; i < count; ++i) {
    Generator generator(*engine, *tokenizer_, {.append_max = 16});
    ASSERT_TRUE(generator.add(question(i, alone[i]), {}, done(alone[i])).has_value());
    ASSERT_TRUE(run(generator.run()).has_value());
    ASSERT_TRUE(alone[i].done);
    EXPECT_TRUE(alone[i].hidden.contains(0));
    EXPECT_TRUE(alone[i].hidden.contains(static_cast<std::uint32_t>(alone[i].tokens.size())))
        << "behind the last one";
  }

  // The test adds some requests at the beginning and the rest while these are answered. The memory
  // is enough for three requests at a time.
  Generator generator(*engine, *tokenizer_, {.append_max = 16});
  std::vector<Heard> heard(count);
  std::size_t next = 0;
  std::mt19937 random(1);
  std::function<void()> add = [&] {
    if (next == count) return;
    const std::size_t i = next++;
    Request request = question(i, heard[i]);
    request.on_token = [&, tell = request.on_token](const GeneratedToken& token,
                                                    std::string_view text) {
      tell(token, text);
      if (random() % 4 == 0) add();
    };
    ASSERT_TRUE(generator.add(std::move(request), {}, done(heard[i])).has_value());
  };
  for (int i = 0; i < 4; ++i) add();
  while (true) {
    ASSERT_TRUE(run(generator.run()).has_value());
    if (next == count) break;
    add();
  }

  for (std::size_t i = 0; i < count; ++i)
    expect_same(heard[i], alone[i], "answer " + std::to_string(i));
}

TEST_F(Batching, EndsWhatIsCancelledWithoutMovingTheOthers) {
  const auto engine =
      engine_of(*model_, {.context = 128, .sequences = 3, .activations = Activations::int8});
  Heard alone;
  {
    Generator generator(*engine, *tokenizer_, {.append_max = 16});
    ASSERT_TRUE(generator.add(question(3, alone), {}, done(alone)).has_value());
    ASSERT_TRUE(run(generator.run()).has_value());
  }
  Generator generator(*engine, *tokenizer_, {.append_max = 16});
  Heard stays, leaves, reads;
  Request leaving = question(4, leaves), reading = question(5, reads);
  leaving.tokens_max = reading.tokens_max = 100;
  leaving.wanted = [&] { return leaves.tokens.size() < 2; };
  int parts = 0;
  reading.wanted = [&] { return ++parts < 3; };

  ASSERT_TRUE(generator.add(std::move(leaving), {}, done(leaves)).has_value());
  ASSERT_TRUE(generator.add(question(3, stays), {}, done(stays)).has_value());
  ASSERT_TRUE(generator.add(std::move(reading), {}, done(reads)).has_value());
  ASSERT_TRUE(run(generator.run()).has_value());

  EXPECT_EQ(leaves.stop, StopReason::cancelled);
  EXPECT_EQ(leaves.tokens.size(), 2u);
  EXPECT_EQ(reads.stop, StopReason::cancelled);
  EXPECT_TRUE(reads.tokens.empty());
  expect_same(stays, alone, "the one that stays");
}

// A long common beginning of several prompts is read once, even while the first request is still
// being answered.
TEST_F(Batching, ReadsWhatRequestsHaveInCommonOnce) {
  const auto engine =
      engine_of(*model_, {.context = 256, .sequences = 4, .activations = Activations::int8});
  Generator generator(*engine, *tokenizer_, {.append_max = 64});
  std::vector<Token> common;
  for (std::size_t i = 0; i < 140; ++i) common.push_back(static_cast<Token>(50 + i * 7 % 200));
  std::vector<std::uint32_t> reused(3);
  const auto add = [&](std::size_t i, Request::OnToken on_token) {
    Request request{.prompt = common, .tokens_max = 6, .on_token = std::move(on_token)};
    request.prompt.push_back(static_cast<Token>(300 + i));
    return generator.add(std::move(request), {}, [&reused, i](Result<Generation> generation) {
      reused[i] = generation->reused_tokens;
    });
  };
  bool added = false;

  ASSERT_TRUE(add(0, [&](const GeneratedToken&, std::string_view) {
                if (std::exchange(added, true)) return;
                EXPECT_TRUE(add(1, {}).has_value());
                EXPECT_TRUE(add(2, {}).has_value());
              }).has_value());
  ASSERT_TRUE(run(generator.run()).has_value());

  EXPECT_EQ(reused[0], 0u);
  EXPECT_EQ(reused[1], 128u) << "whole pages of 64";
  EXPECT_EQ(reused[2], 128u);
}

}  // namespace
}  // namespace weft::llm
