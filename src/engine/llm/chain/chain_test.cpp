// Chains of stages over a line in memory: they draw the tokens of the whole model, for several
// answers at a time; later turns reuse what was read; and answers continue after the loss of a
// stage.
#include <algorithm>

#include "common/base/format.h"
#include "engine/llm/chain/chain_engine.h"
#include "engine/llm/chain/chain_stage.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/generator.h"
#include "engine/llm/run_now.h"
#include "engine/llm/test_expected.h"

namespace weft::llm {
namespace {

struct Parts {
  std::unique_ptr<test::OpenModel> model;
  std::unique_ptr<const tokenizer::Tokenizer> tokenizer;

  std::shared_ptr<Engine> engine(LayerRange layers, std::uint32_t sequences = 4) const {
    return create_cpu_engine(
               model->model, *model->source,
               {.layers = layers, .context = 256, .sequences = sequences, .kv = KvFormat::f32}, 1)
        .value();
  }
  std::vector<Token> question(std::string_view text) const {
    return tokenizer
        ->encode("<|start_header_id|>user<|end_header_id|>\n\n" + std::string(text) +
                     "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
                 {.add_special = true, .parse_special = true})
        .value();
  }
};

Parts open_parts(const std::string& name) {
  Parts parts;
  parts.model = test::open_model(*weft::test::find_data("models/" + name + ".gguf")).value();
  parts.tokenizer = tokenizer::Tokenizer::create(parts.model->file.metadata).value();
  return parts;
}

// A chain of stages whose layers are divided at `cuts`. Frames wait until deliver(); `frames`
// counts the frames that were sent to a next stage.
struct Chain {
  explicit Chain(const Parts& parts, const std::vector<std::uint32_t>& cuts,
                 const ChainEngine::Options& options = {}) {
    const std::uint32_t layers = parts.model->model.config.layers;
    first = parts.engine({0, cuts[0]});
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const bool last = i + 1 == cuts.size();
      stages.push_back(ChainStage::create(
          parts.engine({cuts[i], last ? layers : cuts[i + 1]}),
          {.last = last, .wire = options.wire},
          {.onwards = [this, i](const ByteVector& frame) { pass(i + 1, frame); },
           .to_first = [this](const ByteVector& frame) { answered = engine->receive(frame); }}));
    }
    engine = std::make_unique<ChainEngine>(*first, options,
                                           [this](const ByteVector& frame) { pass(0, frame); });
  }
  void pass(std::size_t stage, const ByteVector& frame) {
    ++frames;
    if (frames >= lose_at && !is_lost) {
      is_lost = true;
      engine->lose({ErrorCode::unavailable, "The second stage is gone."});
    }
    if (!is_lost) taken = stages[stage]->receive(frame);
  }

  std::shared_ptr<Engine> first;
  std::vector<std::shared_ptr<ChainStage>> stages;
  std::unique_ptr<ChainEngine> engine;
  std::size_t frames = 0, lose_at = ~std::size_t{0};
  bool is_lost = false;
  Result<> answered, taken;
};

std::vector<Token> ids(const Generation& generation) {
  std::vector<Token> out;
  for (const auto& token : generation.tokens) out.push_back(token.id);
  return out;
}

class Chains : public testing::TestWithParam<std::pair<const char*, std::vector<std::uint32_t>>> {};
INSTANTIATE_TEST_SUITE_P(
    Models, Chains,
    testing::Values(std::pair{"tiny-llama-chat-q8_0", std::vector<std::uint32_t>{2}},
                    std::pair{"tiny-llama-chat-q8_0", std::vector<std::uint32_t>{1, 3}},
                    std::pair{"tiny-qwen35-short-q4_k_m", std::vector<std::uint32_t>{1, 2}},
                    std::pair{"tiny-qwen3-random-f16", std::vector<std::uint32_t>{1, 2}},
                    std::pair{"tiny-gemma3-random-q8_0", std::vector<std::uint32_t>{1, 2}},
                    std::pair{"tiny-mistral-random-f16", std::vector<std::uint32_t>{1}},
                    std::pair{"tiny-mistral3-random-f16", std::vector<std::uint32_t>{1}},
                    std::pair{"tiny-qwen3moe-random-f16", std::vector<std::uint32_t>{1, 2}},
                    std::pair{"tiny-qwen35-chat-q8_0", std::vector<std::uint32_t>{1, 2}}));

TEST_P(Chains, AnswerWithTheTokensOfTheWhole) {
  const auto [name, cuts] = GetParam();
  if (!weft::test::find_data(std::string("models/") + name + ".gguf"))
    GTEST_SKIP() << "no " << name;
  const Parts parts = open_parts(name);
  const auto prompt =
      parts.tokenizer
          ->encode("The capital of Japan is", {.add_special = true, .parse_special = true})
          .value();
  const auto whole = parts.engine({}, 1);
  Generator alone(*whole, *parts.tokenizer);
  Chain chain(parts, cuts);
  {
    Generator generator(*chain.engine, *parts.tokenizer);
    for (const Request& request :
         {Request{.prompt = prompt, .tokens_max = 24},
          Request{.prompt = prompt,
                  .tokens_max = 24,
                  .sampling = {.temperature = 0.8F, .presence_penalty = 0.5F, .seed = 3}},
          Request{.prompt = prompt, .tokens_max = 8, .top = 3}}) {
      const auto expected = run_now(alone.generate(request));
      const auto answer = run_now(generator.generate(request));
      ASSERT_TRUE(answer.has_value()) << answer.error().message;
      EXPECT_EQ(ids(*answer), ids(*expected));
      EXPECT_EQ(answer->text, expected->text);
      EXPECT_EQ(answer->tokens.back().logprob, expected->tokens.back().logprob);
      EXPECT_EQ(answer->tokens.front().top.size(), request.top);
    }
  }
  EXPECT_TRUE(chain.answered.has_value());
  EXPECT_TRUE(chain.taken.has_value());
}

TEST(Chain, AnswersManyAtOnceAndReusesWhatItHasRead) {
  const Parts parts = open_parts("tiny-llama-chat-q8_0");
  Chain chain(parts, {1, 2}, {.rows_max = 5});
  Generator generator(*chain.engine, *parts.tokenizer);
  std::vector<std::string> texts;
  for (const char* text : {"What is the capital of Japan?", "What is the capital of France?",
                           "What is the capital of Japan?"}) {
    const auto take = [&](Result<Generation> done) { texts.push_back(done.value().text); };
    ASSERT_TRUE(generator.add({.prompt = parts.question(text)}, {}, take).has_value());
  }
  ASSERT_TRUE(run_now(generator.run()).has_value());
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(std::ranges::count(texts, "The capital of Japan is Tokyo."), 2);

  const auto again =
      run_now(generator.generate({.prompt = parts.question("What is the capital of Japan?")}));
  EXPECT_EQ(again->text, "The capital of Japan is Tokyo.");
  EXPECT_GT(again->reused_tokens, 15u);
}

TEST(Chain, GoesOnBehindALossWithTheSameTokens) {
  const Parts parts = open_parts("tiny-llama-chat-q8_0");
  const auto prompt = parts.tokenizer
                          ->encode("KING RICHARD III:\nNow is the winter of",
                                   {.add_special = true, .parse_special = true})
                          .value();
  for (const bool sampled : {false, true}) {
    Request request{.prompt = prompt,
                    .tokens_max = 40,
                    .sampling = {.temperature = sampled ? 0.9F : 0.0F, .seed = 11}};
    std::string heard;
    request.on_token = [&](const GeneratedToken&, std::string_view text) { heard += text; };
    Chain unbroken(parts, {1, 3});
    std::vector<GeneratedToken> expected;
    {
      Generator generator(*unbroken.engine, *parts.tokenizer);
      const auto answer = run_now(generator.generate(request));
      ASSERT_TRUE(answer.has_value()) << answer.error().message;
      expected = answer->tokens;
    }
    const std::string whole = std::exchange(heard, {});

    for (const std::size_t lose_at : {5u, 20u, 47u}) {
      heard.clear();
      std::vector<Token> drawn;
      request.answered.clear();
      request.on_token = [&](const GeneratedToken& token, std::string_view text) {
        drawn.push_back(token.id);
        heard += text;
      };
      Chain broken(parts, {1, 3});
      broken.lose_at = lose_at;
      {
        Generator generator(*broken.engine, *parts.tokenizer);
        const auto lost = run_now(generator.generate(request));
        ASSERT_FALSE(lost.has_value());
        EXPECT_EQ(lost.error().message, "The second stage is gone.");
      }
      ASSERT_LT(drawn.size(), expected.size());
      Chain repaired(parts, {1, 3});
      request.answered = drawn;
      Generator generator(*repaired.engine, *parts.tokenizer);
      const auto rest = run_now(generator.generate(request));
      ASSERT_TRUE(rest.has_value()) << rest.error().message;

      ASSERT_EQ(drawn.size(), expected.size());
      for (std::size_t i = 0; i < drawn.size(); ++i) EXPECT_EQ(drawn[i], expected[i].id) << i;
      EXPECT_EQ(rest->tokens.back().logprob, expected.back().logprob);
      EXPECT_EQ(heard, whole);
    }
  }
}

// Smaller activation formats change the probabilities. A greedy answer may then differ from that of
// the whole model, but only at a token for which the two best candidates were nearly equally
// probable.
TEST(Chain, WithFewerBytesLeavesTheAnswerOnlyWhereTwoTokensAreNearlyAsGood) {
  for (const char* name :
       {"tiny-llama-chat-q8_0", "tiny-qwen2-chat-q8_0", "tiny-qwen35-chat-q8_0"}) {
    if (!weft::test::find_data(std::string("models/") + name + ".gguf")) continue;
    const Parts parts = open_parts(name);
    for (const Wire wire : {Wire::f16, Wire::i8}) {
      // The bounds of the measured gaps at the first difference, in natural logarithms.
      const double gap_max = wire == Wire::f16 ? 0.01 : 0.1;
      std::size_t same = 0, all = 0;
      for (const char* text : {"The capital of Japan is", "KING RICHARD III:\nNow is the winter of",
                               "Once upon a time", "Two and two are"}) {
        const auto prompt =
            parts.tokenizer->encode(text, {.add_special = true, .parse_special = true}).value();
        const auto ask = [&](Wire values) {
          Chain chain(parts, {1, 2}, {.wire = values});
          Generator generator(*chain.engine, *parts.tokenizer);
          return run_now(generator.generate({.prompt = prompt, .tokens_max = 48, .top = 2}))
              .value();
        };
        const Generation whole = ask(Wire::f32), small = ask(wire);
        all += whole.tokens.size();
        for (std::size_t i = 0; i < whole.tokens.size(); ++i) {
          if (i < small.tokens.size() && small.tokens[i].id == whole.tokens[i].id) {
            ++same;
            continue;
          }
          const auto& top = whole.tokens[i].top;
          EXPECT_LT(top[0].logprob - top[1].logprob, gap_max)
              << name << ", " << text << ", token " << i;
          break;
        }
      }
      std::printf("%s, %s: %zu of %zu greedy tokens before the first difference\n", name,
                  wire == Wire::f16 ? "f16" : "i8", same, all);
    }
  }
}

TEST(Chain, RefusesWhatNoStageSends) {
  const Parts parts = open_parts("tiny-llama-chat-q8_0");
  Chain chain(parts, {2});
  EXPECT_FALSE(chain.engine->receive(as_bytes(std::string_view("nonsense"))).has_value());
  EXPECT_FALSE(chain.engine->receive(encode({.kind = ChainFrame::Kind::pass})).has_value());
  EXPECT_FALSE(
      chain.engine
          ->receive(encode({.kind = ChainFrame::Kind::drawn, .tokens = {1 << 20}, .values = {0}}))
          .has_value());
  EXPECT_FALSE(chain.stages[0]->receive(encode({.kind = ChainFrame::Kind::drawn})).has_value());
  EXPECT_EQ(chain.stages[0]
                ->receive(encode({.kind = ChainFrame::Kind::pass, .tokens = {1}, .values = {0.5F}}))
                .error()
                .message,
            weft::format("A stage of a chain receives 1 numbers for 1 rows of {}.",
                         parts.model->model.config.embedding));
  // A row at a position after positions that the stage never read.
  const SequenceId sequence = chain.engine->open().value();
  const std::vector<float> row(parts.model->model.config.embedding);
  ASSERT_TRUE(chain.stages[0]
                  ->receive(encode({.kind = ChainFrame::Kind::pass,
                                    .sequence = 0,
                                    .at = 7,
                                    .tokens = {1},
                                    .values = row}))
                  .has_value());
  EXPECT_EQ(run_now(chain.engine->append(sequence, {1})).error().message,
            "A stage has read 0 positions of a sequence whose next frame begins at 7.");
  EXPECT_EQ(run_now(chain.engine->draw({sequence}, 0)).error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace weft::llm
