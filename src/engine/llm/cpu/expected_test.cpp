// On the CPU the small models of every format agree with llama.cpp in f32: a prompt has the same
// tokens, the same tokens follow it, and they have the same probabilities.
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/run_now.h"
#include "engine/llm/test_expected.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::llm {
namespace {

class Expected : public testing::TestWithParam<const char*> {};

TEST_P(Expected, AnswersAsLlamaCpp) {
  const std::string name = GetParam();
  const auto path = weft::test::find_data("models/" + name + ".gguf");
  const auto expected_path = weft::test::find_data("models/expected/" + name + ".json");
  if (!path || !expected_path) GTEST_SKIP() << weft::test::missing_data("models/" + name + ".gguf");
  auto cases = test::read_expected(*expected_path);
  ASSERT_TRUE(cases.has_value()) << cases.error().message;
#ifdef __SANITIZE_THREAD__
  // Under the thread sanitizer only one case runs: threads do the same work in all cases, and a
  // case takes many times as long.
  cases->resize(1);
#endif
  const auto model = test::open_model(*path);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const auto engine = create_cpu_engine((*model)->model, *(*model)->source, {.kv = KvFormat::f32});
  ASSERT_TRUE(engine.has_value()) << engine.error().message;

  const auto tokenizer = tokenizer::Tokenizer::create((*model)->file.metadata);
  ASSERT_TRUE(tokenizer.has_value()) << tokenizer.error().message;
  for (const test::ExpectedCase& one : *cases)
    EXPECT_EQ((*tokenizer)->encode(one.prompt, {.add_special = true, .parse_special = true}),
              one.prompt_tokens)
        << one.prompt;

  const auto agreement = run_now(test::compare_with_expected(**engine, *cases));

  ASSERT_TRUE(agreement.has_value()) << agreement.error().message;
  EXPECT_GT(agreement->tokens, cases->size() > 1 ? 100u : 1u);
  RecordProperty("agreement", agreement->text());
  std::printf("  %s: %s\n", name.c_str(), agreement->text().c_str());
}

INSTANTIATE_TEST_SUITE_P(
    Models, Expected,
    testing::Values("tiny-llama-chat-f16", "tiny-llama-chat-q8_0", "tiny-llama-chat-q4_0",
                    "tiny-llama-chat-q4_1", "tiny-llama-chat-q5_0", "tiny-llama-chat-q5_1",
                    "tiny-llama-chat-q4_k_m", "tiny-llama-chat-q5_k_m", "tiny-llama-chat-q6_k",
                    "tiny-qwen2-chat-f16", "tiny-qwen2-chat-q8_0", "tiny-qwen2-chat-q4_k_m",
                    "tiny-qwen35-chat-f16", "tiny-qwen35-chat-q8_0", "tiny-qwen35-chat-q4_k_m",
                    "tiny-qwen2-short-q4_k_m", "tiny-qwen35-short-q4_k_m", "tiny-qwen3-random-f16",
                    "tiny-gemma3-random-q8_0", "tiny-mistral-random-f16",
                    "tiny-mistral3-random-f16", "tiny-qwen3moe-random-f16",
                    "tiny-qwen3moe-random-q4_k_m"),
    [](const auto& row) {
      std::string name = row.param;
      for (char& c : name)
        if (c == '-') c = '_';
      return name;
    });

}  // namespace
}  // namespace weft::llm
