// What clients send, and what they get: shapes, defaults, bounds, and nonsense.
#include "apps/coordinator/serving/openai.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "apps/coordinator/serving/answer_text.h"

namespace weft::coordinator {
namespace {

TEST(OpenAi, ReadsAChatWithItsDefaults) {
  const auto read = read_chat_request(R"({"model":"m","messages":[{"role":"developer","content":"Be brief."},
    {"role":"user","content":[{"type":"text","text":"Hello "},{"type":"text","text":"there"}],"name":"x"}],"unknown":{"a":[1]},"stop":"END","seed":-1})",
                                      5);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(
      read->prompts.at(0),
      R"({"add_generation_prompt":true,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello there","name":"x"}]})");
  EXPECT_EQ(read->ask.temperature, 1);
  EXPECT_EQ(read->ask.stop, std::vector<std::string>{"END"});
  EXPECT_EQ(read->ask.seed, ~std::uint64_t{0});
  EXPECT_FALSE(read->stream);
  EXPECT_EQ(read->choices, 1u);
}

TEST(OpenAi, KnowsTheTurnsOfAConversation) {
  const auto first = read_chat_request(R"({"model":"m","messages":[{"role":"system","content":"A"},{"role":"user","content":"B"}]})", 0).value();
  const auto second =
      read_chat_request(
          R"({"model":"m","messages":[{"role":"system","content":"A"},{"role":"user","content":"B"},{"role":"assistant","content":"C"},{"role":"user","content":"D"}]})",
          0)
          .value();
  const auto other = read_chat_request(R"({"model":"m","messages":[{"role":"system","content":"A"},{"role":"user","content":"E"}]})", 0).value();
  EXPECT_EQ(first.conversation, second.conversation);
  EXPECT_NE(first.conversation, other.conversation);
}

struct Wrong {
  const char* body;
  const char* message;
};
class OpenAiWrong : public testing::TestWithParam<Wrong> {};
INSTANTIATE_TEST_SUITE_P(
    Bodies, OpenAiWrong,
    testing::Values(Wrong{R"({"messages":[]})", "lacks the key \"model\""}, Wrong{R"({"model":"m"})", "lacks the key \"messages\""},
                    Wrong{R"({"model":"m","messages":[]})", "messages: must not be empty"},
                    Wrong{R"({"model":"m","messages":[{"content":"x"}]})", "messages[0]: lacks the key \"role\""},
                    Wrong{R"({"model":"m","messages":[{"role":"user","content":[{"type":"image_url"}]}]})", "others are not supported"},
                    Wrong{R"({"model":"m","messages":[{"role":"user","content":"x"}],"n":9})", "n: must be from 1 to 8"},
                    Wrong{R"({"model":"m","messages":[{"role":"user","content":"x"}],"top_logprobs":2})", "needs \"logprobs\": true"},
                    Wrong{R"({"model":"m","messages":[{"role":"user","content":"x"}],"logit_bias":{"1":2}})", "is not supported"}));

TEST_P(OpenAiWrong, IsRefusedWithItsPlace) {
  const auto read = read_chat_request(GetParam().body, 0);
  ASSERT_FALSE(read.has_value());
  EXPECT_TRUE(read.error().message.contains(GetParam().message)) << read.error().message;
  EXPECT_EQ(openai_error(read.error()).status, 400);
}

TEST(OpenAi, TakesAnyBytesWithoutHarm) {
  const std::string whole = R"({"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true,"stop":["a"],"n":2,"temperature":0.5})";
  std::mt19937 random(9);
  for (int round = 0; round < 5000; ++round) {
    std::string body = whole;
    for (int change = 0; change < 3; ++change) body[random() % body.size()] = static_cast<char>(random());
    body.resize(random() % (body.size() + 1));
    if (const auto read = read_chat_request(body, 0); !read) {
      EXPECT_FALSE(read.error().message.empty());
    }
    (void)read_completion_request(body, 0);
  }
}

TEST(OpenAi, SaysWhatWentWrongInItsShape) {
  EXPECT_EQ(openai_error_json({ErrorCode::not_found, "The model 'x' does not exist here."}),
            R"({"error":{"message":"The model 'x' does not exist here.","type":"invalid_request_error","param":null,"code":"model_not_found"}})");
  EXPECT_EQ(openai_error({ErrorCode::resource_exhausted, "5 requests wait already."}).status, 429);
  EXPECT_EQ(openai_error({ErrorCode::resource_exhausted, "5 requests wait already."}).headers.at("retry-after"), "1");
  EXPECT_EQ(openai_error({ErrorCode::resource_exhausted, "It does not fit into the context of 5."}).status, 400);
  EXPECT_EQ(openai_error({ErrorCode::unavailable, "Nobody."}).status, 503);
}

TEST(AnswerText, IsTheSameWholeAndStreamed) {
  auto request =
      read_chat_request(R"({"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"include_usage":true}})", 0)
          .value();
  AnswerText streamed(request, "id", 7);
  std::string out = streamed.begin();
  out += streamed.tokens(0, {{.id = 1, .logprob = -1, .text = "To\n", .piece = "To\n"}});
  out += streamed.tokens(0, {{.id = 2, .logprob = -1, .text = "", .piece = "x"}});
  const AnswerEnd end{.reason = "eos", .prompt_tokens = 3, .answer_tokens = 2, .shards = 1};
  out += streamed.end(0, end);
  out += streamed.close();
  EXPECT_EQ(std::ranges::count(out, '\n') % 2, 0);
  EXPECT_TRUE(out.contains(R"("delta":{"content":"To\n"})")) << out;
  EXPECT_TRUE(out.contains(R"("finish_reason":"stop")"));
  EXPECT_TRUE(out.contains(R"("usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5})"));
  EXPECT_TRUE(out.ends_with("data: [DONE]\n\n"));

  request.stream = false;
  AnswerText whole(request, "id", 7);
  EXPECT_EQ(whole.begin() + whole.tokens(0, {{.id = 1, .text = "To\n", .piece = "To\n"}}) + whole.end(0, end) + whole.close(), "");
  EXPECT_TRUE(whole.document().contains(R"("message":{"role":"assistant","content":"To\n","refusal":null})")) << whole.document();
}

}  // namespace
}  // namespace weft::coordinator
