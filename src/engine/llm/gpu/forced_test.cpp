// 512 tokens of Shakespeare, read one after another as they would be drawn: compares the engine's
// probabilities with those of the CPU engine in f32 with an f32 cache.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/long_tests.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/gpu/test_gpu.h"
#include "engine/llm/run_now.h"
#include "engine/llm/test_forced.h"
#include "engine/llm/test_text.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::llm {
namespace {

using test::Divergence;
using test::run;

constexpr std::size_t token_count = 513;  // The last token is not read.

// Returns the number of tokens that are read together, as a prompt. The quick run reads most of the
// text in this way: later tokens are more predictable than the first ones, and the last quarter
// shows as much as the whole. Random weights need more tokens to measure how often the best token
// stays the same.
std::size_t prompt_count(std::string_view model) {
  if (weft::test::long_tests()) return 0;
  return model.ends_with("random") ? 256 : 384;
}

std::vector<Token> shakespeare_tokens(const test::OpenModel& model) {
  const auto tokenizer = tokenizer::Tokenizer::create(model.file.metadata);
  std::vector<Token> tokens =
      (*tokenizer)->encode(test::shakespeare(6000), {.add_special = true}).value();
  tokens.resize(token_count);
  return tokens;
}

std::unique_ptr<test::OpenModel> open(const std::string& name) {
  const auto path = weft::test::find_data("models/" + name + ".gguf");
  return path ? std::move(*test::open_model(*path)) : nullptr;
}

class Forced : public test::GpuEngineTest, public testing::WithParamInterface<const char*> {
 protected:
  static std::vector<float> reference(const test::OpenModel& model,
                                      const std::vector<Token>& tokens) {
    const auto engine =
        create_cpu_engine(model.model, *model.source, {.kv = KvFormat::f32}).value();
    return run_now(test::forced_logprobs(*engine, tokens, prompt_count(GetParam()))).value();
  }
  // The GPU's log-probabilities with q8_0 weights and an f16 cache, read once for all tests of a
  // model.
  static const std::vector<float>& with_q8_weights(const test::OpenModel& model,
                                                   const std::vector<Token>& tokens) {
    static std::map<std::string, std::vector<float>> said;
    std::vector<float>& out = said[GetParam()];
    if (out.empty()) {
      const auto engine = engine_of(model, {.kv = KvFormat::f16});
      auto read = run(test::forced_logprobs(*engine, tokens, prompt_count(GetParam())));
      EXPECT_TRUE(read.has_value()) << read.error().message;
      if (read) out = std::move(*read);
    }
    return out;
  }
  static Divergence divergence(const test::OpenModel& model, EngineOptions options,
                               const std::vector<Token>& tokens,
                               const std::vector<float>& expected) {
    const auto engine = engine_of(model, options);
    const auto said = run(test::forced_logprobs(*engine, tokens, prompt_count(GetParam())));
    EXPECT_TRUE(said.has_value()) << said.error().message;
    return told(options, test::divergence(expected, *said, engine->config().vocabulary));
  }
  static Divergence told(const EngineOptions& options, const Divergence& out) {
    std::printf("  %s kv %s activations %s: KL %.2e, same best token %.4f\n", GetParam(),
                std::string(to_string(options.kv)).c_str(),
                std::string(to_string(options.activations)).c_str(), out.mean, out.same_top);
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(Models, Forced,
                         testing::Values("tiny-llama-chat", "tiny-qwen2-chat", "tiny-qwen35-chat"),
                         test::test_name);

TEST_P(Forced, StaysCloseToTheReferenceWithRoundedCachesAndWeights) {
  const auto f16 = open(std::string(GetParam()) + "-f16"),
             q8_0 = open(std::string(GetParam()) + "-q8_0");
  if (!f16 || !q8_0) GTEST_SKIP() << weft::test::missing_data(GetParam());
  const std::vector<Token> tokens = shakespeare_tokens(*f16);
  const std::vector<float> expected = reference(*f16, tokens);

  // The first two runs have the weights of the reference, and rounded keys and values; the third
  // run has rounded weights, too.
  EXPECT_LT(divergence(*f16, {.kv = KvFormat::f16}, tokens, expected).mean, 1e-4);
  EXPECT_LT(divergence(*f16, {.kv = KvFormat::q8_0}, tokens, expected).mean, 1e-3);
  ASSERT_EQ(with_q8_weights(*q8_0, tokens).size(), expected.size());
  const Divergence weights =
      test::divergence(expected, with_q8_weights(*q8_0, tokens), q8_0->model.config.vocabulary);
  EXPECT_LT(told({.kv = KvFormat::f16}, weights).mean, 1e-3);
}

class ForcedRounded : public Forced {};
INSTANTIATE_TEST_SUITE_P(Models, ForcedRounded,
                         testing::Values("tiny-llama-chat", "tiny-qwen2-chat", "tiny-qwen35-chat",
                                         "tiny-gemma3-random"),
                         test::test_name);

TEST_P(ForcedRounded, StaysCloseToItselfWithRoundedActivations) {
  const auto model = open(std::string(GetParam()) + "-q8_0");
  if (!model) GTEST_SKIP() << weft::test::missing_data(GetParam());
  const std::vector<Token> tokens = shakespeare_tokens(*model);
  const std::vector<float>& expected = with_q8_weights(*model, tokens);
  ASSERT_FALSE(expected.empty());

  const Divergence rounded =
      divergence(*model, {.kv = KvFormat::f16, .activations = Activations::int8}, tokens, expected);

  // Random weights separate the best tokens less clearly than trained weights do.
  const bool random = std::string_view(GetParam()).ends_with("random");
  // The divergence is above 0, because the kernels that round activations were used. The quick run
  // has the more predictable tokens: trained models have a divergence of at most 4e-5, and of
  // 1.3e-4 to 4.8e-4 if a scale is 8 % too large.
  EXPECT_GT(rounded.mean, 1e-6);
  EXPECT_LT(rounded.mean, random ? 1e-2 : weft::test::long_tests() ? 2e-3 : 2e-4);
  EXPECT_GE(rounded.same_top, random ? 0.95 : 0.99);

  const Divergence halves =
      divergence(*model, {.kv = KvFormat::f16, .activations = Activations::f16}, tokens, expected);
  EXPECT_GT(halves.mean, 0);
  EXPECT_LT(halves.mean, random ? 1e-4 : 2e-5);
  EXPECT_GE(halves.same_top, 0.99);
}

}  // namespace
}  // namespace weft::llm
