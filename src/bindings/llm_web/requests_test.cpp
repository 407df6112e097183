// A page's request is read completely, or it is refused with the place of the mistake.
#include "bindings/llm_web/requests.h"

#include <gtest/gtest.h>

#include "bindings/llm_web/answers.h"

namespace weft::llm_web {
namespace {

TEST(LlmWebRequests, FillInWhatIsMissing) {
  const auto load = parse_load("{}");
  const auto generate = parse_generate("{}");

  ASSERT_TRUE(load.has_value()) << load.error().message;
  EXPECT_EQ(load->device, DeviceChoice::automatic);
  EXPECT_EQ(load->engine.kv, llm::KvFormat::f16);
  EXPECT_EQ(load->engine.activations, llm::Activations::f32);
  ASSERT_TRUE(generate.has_value()) << generate.error().message;
  EXPECT_EQ(generate->sampling.temperature, 0);
  EXPECT_TRUE(generate->stop.empty());
}

TEST(LlmWebRequests, ReadEverythingThatIsSaid) {
  const auto load = parse_load(
      R"({"device": "gpu", "kv": "q8_0", "activations": "int8", "context": 2048, "sequences": 4})");
  const auto generate = parse_generate(
      R"({"maxTokens": 7, "temperature": 0.5, "topK": 40, "topP": 0.25, "minP": 0.125, "repetitionPenalty": 1.5,
    "presencePenalty": 0.75, "frequencyPenalty": -0.5, "penaltyWindow": 9, "seed": 9007199254740991, "stop": ["a", "\n\n"], "logprobs": 5})");

  ASSERT_TRUE(load.has_value()) << load.error().message;
  EXPECT_EQ(load->device, DeviceChoice::gpu);
  EXPECT_EQ(load->engine.kv, llm::KvFormat::q8_0);
  EXPECT_EQ(load->engine.activations, llm::Activations::int8);
  EXPECT_EQ(load->engine.context, 2048u);
  EXPECT_EQ(load->engine.sequences, 4u);
  ASSERT_TRUE(generate.has_value()) << generate.error().message;
  EXPECT_EQ(generate->tokens_max, 7u);
  EXPECT_EQ(generate->sampling.temperature, 0.5f);
  EXPECT_EQ(generate->sampling.top_k, 40u);
  EXPECT_EQ(generate->sampling.top_p, 0.25f);
  EXPECT_EQ(generate->sampling.min_p, 0.125f);
  EXPECT_EQ(generate->sampling.repetition_penalty, 1.5f);
  EXPECT_EQ(generate->sampling.presence_penalty, 0.75f);
  EXPECT_EQ(generate->sampling.frequency_penalty, -0.5f);
  EXPECT_EQ(generate->sampling.penalty_window, 9u);
  EXPECT_EQ(generate->sampling.seed, 9007199254740991u);
  EXPECT_EQ(generate->stop, (std::vector<std::string>{"a", "\n\n"}));
  EXPECT_EQ(generate->top, 5u);
  EXPECT_EQ(parse_tokens("[1, 20, 300]").value(), (std::vector<llm::Token>{1, 20, 300}));
}

TEST(LlmWebRequests, RefuseWhatTheyDoNotUnderstand) {
  EXPECT_EQ(parse_load(R"({"device": "npu"})").error().message,
            "The device 'npu' is not one of auto, gpu and cpu.");
  EXPECT_EQ(parse_load(R"({"contxt": 3})").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(parse_load(R"({"context": -1})").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(parse_generate(R"({"maxTokens": 1.5})").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(parse_generate(R"({"seed": 9007199254740994})").error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(parse_generate(R"({"stop": "a"})").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(parse_tokens("[1, \"2\"]").error().code, ErrorCode::invalid_argument);
}

TEST(LlmWebAnswers, AreJsonWhateverTheTextHolds) {
  EXPECT_EQ(piece_json({.id = 3, .text = "x", .logprob = -0.5f, .top = {{3, -0.5f}, {4, -1.f}}},
                       "a\"\n\x01"),
            "{\"text\":\"a\\\"\\n\\u0001\",\"token\":3,\"logprob\":-0.5,\"top\":[{\"token\":3,"
            "\"logprob\":-0.5},{\"token\":4,\"logprob\":-1}]}");
  llm::Generation generation{.tokens = {},
                             .text = "a",
                             .stop = llm::StopReason::eos,
                             .reused_tokens = 2,
                             .prefill_tokens = 3,
                             .prefill_s = 0.5,
                             .decode_s = 1};
  generation.tokens.resize(4);
  EXPECT_EQ(
      done_json(generation),
      R"({"text":"a","stop":"eos","promptTokens":5,"reusedTokens":2,"tokens":4,"prefillMs":500,"decodeMs":1000})");
}

}  // namespace
}  // namespace weft::llm_web
