// Tests of the requests that clients send and the replies that they get: formats, defaults, bounds,
// and malformed input.
#include "apps/coordinator/http/openai.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "apps/coordinator/http/answer_text.h"
#include "common/base/format.h"

namespace weft::coordinator {
namespace {

TEST(OpenAi, ReadsAChatWithItsDefaults) {
  const auto read =
      read_chat_request(R"({"model":"m","messages":[{"role":"developer","content":"Be brief."},
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
  const auto first =
      read_chat_request(
          R"({"model":"m","messages":[{"role":"system","content":"A"},{"role":"user","content":"B"}]})",
          0)
          .value();
  const auto second =
      read_chat_request(
          R"({"model":"m","messages":[{"role":"system","content":"A"},{"role":"user","content":"B"},{"role":"assistant","content":"C"},{"role":"user","content":"D"}]})",
          0)
          .value();
  const auto other =
      read_chat_request(
          R"({"model":"m","messages":[{"role":"system","content":"A"},{"role":"user","content":"E"}]})",
          0)
          .value();
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
    testing::Values(
        Wrong{R"({"messages":[]})", "lacks the key \"model\""},
        Wrong{R"({"model":"m"})", "lacks the key \"messages\""},
        Wrong{R"({"model":"m","messages":[]})", "messages: must not be empty"},
        Wrong{R"({"model":"m","messages":[{"content":"x"}]})",
              "messages[0]: lacks the key \"role\""},
        Wrong{R"({"model":"m","messages":[{"role":"wizard","content":"x"}]})",
              "messages[0].role: must be \"system\", \"developer\", \"user\", \"assistant\" or "
              "\"tool\""},
        Wrong{R"({"model":"m","messages":[{"role":"user"}]})",
              "messages[0]: lacks the key \"content\""},
        Wrong{R"({"model":"m","messages":[{"role":"tool","content":null}]})",
              "messages[0]: lacks the key \"content\""},
        Wrong{
            R"({"model":"m","messages":[{"role":"user","content":"x"}],"functions":[{"name":"f"}]})",
            "functions: is not supported here"},
        Wrong{
            R"({"model":"m","messages":[{"role":"user","content":"x"}],"modalities":["text","audio"]})",
            "modalities[1]: is not \"text\"; others are not supported here"},
        Wrong{R"({"model":"m","messages":[{"role":"user","content":"x"}],"tools":[1]})",
              "tools[0]: must be an object, not a number"},
        Wrong{R"({"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"1"}]}]})",
              "messages[0].tool_calls[0]: lacks the key \"function\""},
        Wrong{
            R"({"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"arguments":"{}"}}]}]})",
            "messages[0].tool_calls[0].function: lacks the key \"name\""},
        Wrong{R"({"model":"m","messages":[{"role":"user","content":[{"type":"image_url"}]}]})",
              "others are not supported"},
        Wrong{R"({"model":"m","messages":[{"role":"user","content":"x"}],"deadline_ms":0})",
              "deadline_ms: must be from 1 to 86400000"},
        Wrong{R"({"model":"m","messages":[{"role":"user","content":"x"}],"max_price":-1})",
              "max_price: "},
        Wrong{R"({"model":"m","messages":[{"role":"user","content":"x"}],"n":9})",
              "n: must be from 1 to 8"},
        Wrong{R"({"model":"m","messages":[{"role":"user","content":"x"}],"top_logprobs":2})",
              "needs \"logprobs\": true"},
        Wrong{R"({"model":"m","messages":[{"role":"user","content":"x"}],"logit_bias":{"a":2}})",
              "logit_bias: has the key \"a\", which is not a token's number"},
        Wrong{R"({"model":"m","messages":[{"role":"user","content":"x"}],"logit_bias":{"1":200}})",
              "logit_bias.1: must be from -100 to 100"},
        Wrong{
            R"({"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"xml"}})",
            "response_format.type: must be \"text\", \"json_object\" or \"json_schema\""},
        Wrong{
            R"({"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema"}})",
            "response_format: lacks the key \"json_schema\""},
        Wrong{
            R"({"model":"m","messages":[{"role":"user","content":"x"}],"grammar":"root ::= \"a\"","response_format":{"type":"json_object"}})",
            "response_format: stands beside \"grammar\""},
        Wrong{R"({"model":"m","messages":[{"role":"user","content":"x"}],"tools":{}})",
              "tools: must be an array"},
        Wrong{
            R"({"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{}}]})",
            "tools[0].function: lacks the key \"name\""},
        Wrong{
            R"({"model":"m","messages":[{"role":"user","content":"x"}],"tool_choice":"required"})",
            "tool_choice: needs tools in \"tools\""},
        Wrong{
            R"({"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"function":{"name":"f"}}],"tool_choice":{"type":"function","function":{"name":"g"}}})",
            "tool_choice: names \"g\", which is not among the tools"},
        Wrong{
            R"({"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"[1]"}}]}]})",
            "messages[0].tool_calls[0].function.arguments: must be the text of a JSON object"}));

TEST_P(OpenAiWrong, IsRefusedWithItsPlace) {
  const auto read = read_chat_request(GetParam().body, 0);
  ASSERT_FALSE(read.has_value());
  EXPECT_TRUE(read.error().message.contains(GetParam().message)) << read.error().message;
  EXPECT_EQ(openai_error(read.error()).status, 400);
}

// Keys whose effect a completion does not support are refused instead of ignored.
TEST(OpenAi, RefusesWhatACompletionDoesNotDo) {
  const auto wrong = [](std::string_view more) {
    const auto read =
        read_completion_request(weft::format(R"({{"model":"m","prompt":"x",{}}})", more), 0);
    return read ? std::string("It was read.") : read.error().message;
  };

  EXPECT_TRUE(wrong(R"("echo":true)").starts_with("echo: is not supported here"));
  EXPECT_TRUE(wrong(R"("suffix":"y")").starts_with("suffix: is not supported here"));
  EXPECT_TRUE(wrong(R"("best_of":3)").starts_with("best_of: must be as many as \"n\", 1"));
  EXPECT_EQ(wrong(R"("best_of":3,"n":3,"suffix":null)"), "It was read.");
}

TEST(OpenAi, AsksForWhatTheAnswerIsHeldTo) {
  const auto request = [](std::string_view more) {
    const auto read = read_chat_request(
        R"({"model":"m","messages":[{"role":"user","content":"x"}],)" + std::string(more) + "}", 0);
    EXPECT_TRUE(read) << read.error().message;
    return *read;
  };
  const auto ask_of = [&](std::string_view more) { return request(more).ask; };
  const std::string tools =
      R"("tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}])";

  EXPECT_EQ(ask_of(R"("response_format":{"type":"json_object"})").format, "json");
  const auto schema = ask_of(
      R"("response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"type":"object"}}})");
  EXPECT_EQ(schema.format, "schema");
  EXPECT_EQ(schema.rule, R"({"type":"object"})");
  EXPECT_EQ(ask_of(R"("grammar":"root ::= \"a\"")").rule, "root ::= \"a\"");
  EXPECT_EQ(ask_of(R"("response_format":{"type":"text"})").format, "");
  EXPECT_EQ(ask_of(R"("logit_bias":{"7":-100,"9":5})").bias.size(), 2u);
  EXPECT_EQ(ask_of(R"("grammar":"root ::= \"a\"","logprobs":true)").top, 1u);
  EXPECT_EQ(ask_of(R"("logprobs":true)").top, 0u);

  EXPECT_TRUE(request(tools).shows_calls);
  EXPECT_EQ(ask_of(tools).format, "");
  EXPECT_FALSE(request(tools + R"(,"tool_choice":"none")").shows_calls);
  EXPECT_EQ(ask_of(tools + R"(,"tool_choice":"required")").format, "tools");
  EXPECT_EQ(ask_of(tools + R"(,"tool_choice":"required","parallel_tool_calls":false)").format,
            "tool");
  const auto named =
      ask_of(tools + R"(,"tool_choice":{"type":"function","function":{"name":"g"}})");
  EXPECT_EQ(named.format, "tool");
  EXPECT_EQ(named.rule, "g");
}

TEST(OpenAi, CallsOfEarlierAnswersReachTheTemplateAsObjects) {
  const auto read = read_chat_request(
      R"({"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]},{"role":"tool","tool_call_id":"c","content":"2"}]})",
      0);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(
      read->prompts.at(0),
      R"({"add_generation_prompt":true,"messages":[{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":{"a": 1}}}]},{"role":"tool","tool_call_id":"c","content":"2"}]})");
}

TEST(OpenAi, ErrorsNameTheField) {
  const auto param_of = [](std::string_view body) {
    const std::string json = openai_error_json(read_chat_request(body, 0).error());
    const std::size_t begin = json.find("\"param\":") + 8;
    return json.substr(begin, json.find(",\"code\"") - begin);
  };
  EXPECT_EQ(param_of(R"({"model":"m","messages":[{"role":"user","content":"x"}],"n":9})"), "\"n\"");
  EXPECT_EQ(param_of(R"({"messages":[]})"), "\"model\"");
  EXPECT_EQ(param_of(R"({"model":"m","messages":[{"content":"x"}]})"), "\"messages[0].role\"");
  EXPECT_EQ(param_of("nonsense"), "null");
}

TEST(OpenAi, TakesAnyBytesWithoutHarm) {
  const std::string whole =
      R"({"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true,"stop":["a"],"n":2,"temperature":0.5})";
  std::mt19937 random(9);
  for (int round = 0; round < 5000; ++round) {
    std::string body = whole;
    for (int change = 0; change < 3; ++change)
      body[random() % body.size()] = static_cast<char>(random());
    body.resize(random() % (body.size() + 1));
    if (const auto read = read_chat_request(body, 0); !read) {
      EXPECT_FALSE(read.error().message.empty());
    }
    (void)read_completion_request(body, 0);
  }
}

TEST(OpenAi, SaysWhatWentWrongInItsShape) {
  EXPECT_EQ(
      openai_error_json({ErrorCode::not_found, "The model 'x' does not exist here."}),
      R"({"error":{"message":"The model 'x' does not exist here.","type":"invalid_request_error","param":"model","code":"model_not_found"}})");
  const net::Reply refuted = openai_error({ErrorCode::unavailable, "It is wrong."}, {}, "refuted");
  EXPECT_EQ(refuted.headers.at("x-weft-trust"), "refuted");
  EXPECT_TRUE(refuted.body.ends_with(R"(,"weft":{"trust":"refuted"}})")) << refuted.body;
  EXPECT_EQ(openai_error({ErrorCode::resource_exhausted, "5 requests wait already."}).status, 429);
  EXPECT_EQ(openai_error({ErrorCode::resource_exhausted, "5 requests wait already."})
                .headers.at("retry-after"),
            "1");
  EXPECT_EQ(openai_error({ErrorCode::resource_exhausted, "It does not fit into the context of 5."})
                .status,
            400);
  EXPECT_EQ(openai_error({ErrorCode::unavailable, "No worker."}).status, 503);
}

TEST(AnswerText, IsTheSameWholeAndStreamed) {
  auto request =
      read_chat_request(
          R"({"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"include_usage":true}})",
          0)
          .value();
  AnswerText streamed(request, "id", 7);
  std::string out = streamed.begin();
  out += streamed.tokens(0, {{.id = 1, .logprob = -1, .text = "To\n", .piece = "To\n"}});
  out += streamed.tokens(0, {{.id = 2, .logprob = -1, .text = "", .piece = "x"}});
  const inference::AnswerEnd end{
      .reason = "eos", .prompt_tokens = 3, .answer_tokens = 2, .shards = 1};
  out += streamed.end(0, end);
  out += streamed.close();
  EXPECT_EQ(std::ranges::count(out, '\n') % 2, 0);
  EXPECT_TRUE(out.contains(R"("delta":{"content":"To\n"})")) << out;
  EXPECT_TRUE(out.contains(R"("finish_reason":"stop")"));
  EXPECT_TRUE(out.contains(
      R"("usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":0}})"));
  EXPECT_TRUE(out.ends_with("data: [DONE]\n\n"));

  request.stream = false;
  AnswerText whole(request, "id", 7);
  EXPECT_EQ(whole.begin() + whole.tokens(0, {{.id = 1, .text = "To\n", .piece = "To\n"}}) +
                whole.end(0, end) + whole.close(),
            "");
  EXPECT_TRUE(whole.document().contains(
      R"("message":{"role":"assistant","content":"To\n","refusal":null})"))
      << whole.document();
}

TEST(AnswerText, TellsOfThoughtsAndCallsWholeAndStreamed) {
  auto request =
      read_chat_request(
          R"({"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"tools":[{"type":"function","function":{"name":"f"}}]})",
          0)
          .value();
  const std::vector<std::string> texts = {"<think>",
                                          "so",
                                          "</think>",
                                          "\n\nLet me",
                                          " see.\n<tool",
                                          "_call>{\"name\": \"f\", \"argu",
                                          "ments\": {\"a\": \"b\"}}",
                                          "</tool_call>"};
  const inference::AnswerEnd end{.reason = "eos", .prompt_tokens = 3, .cached_tokens = 2};
  AnswerText streamed(request, "chatcmpl-0123456789", 7);
  std::string out = streamed.begin();
  for (const std::string& text : texts)
    out += streamed.tokens(0, {{.id = 1, .text = text, .piece = text}});
  out += streamed.end(0, end);
  request.stream = false;
  AnswerText whole(request, "chatcmpl-0123456789", 7);
  for (const std::string& text : texts)
    (void)whole.tokens(0, {{.id = 1, .text = text, .piece = text}});
  (void)whole.end(0, end);

  const std::string call =
      R"("id":"456789000","type":"function","function":{"name":"f","arguments":"{\"a\": \"b\"}"}})";
  EXPECT_TRUE(out.contains(R"("delta":{"reasoning_content":"so"})")) << out;
  EXPECT_TRUE(out.contains(R"("delta":{"content":"Let me"})")) << out;
  EXPECT_TRUE(out.contains(R"("delta":{"content":" see."})")) << out;
  EXPECT_TRUE(out.contains(R"("delta":{"tool_calls":[{"index":0,)" + call + "]")) << out;
  EXPECT_TRUE(out.contains(R"("finish_reason":"tool_calls")"));
  EXPECT_FALSE(out.contains("tool_call>"));
  EXPECT_TRUE(whole.document().contains(
      R"("message":{"role":"assistant","content":"Let me see.","refusal":null,"reasoning_content":"so","tool_calls":[{)" +
      call + "]}"))
      << whole.document();
  EXPECT_TRUE(whole.document().contains(R"("cached_tokens":2)"));
}

TEST(AnswerText, ACallThatIsCutIsTextAndSaysSo) {
  const auto request =
      read_chat_request(
          R"({"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f"}}]})",
          0)
          .value();
  AnswerText text(request, "id", 7);
  (void)text.tokens(0, {{.id = 1, .text = "<tool_call>{\"name\": \"f\"", .piece = "x"}});
  (void)text.end(0, {.reason = "length"});

  EXPECT_TRUE(text.document().contains(R"("content":"<tool_call>{\"name\": \"f\"","refusal")"))
      << text.document();
  EXPECT_TRUE(text.document().contains(R"("finish_reason":"length")"));
  EXPECT_FALSE(text.document().contains("tool_calls\""));
}

}  // namespace
}  // namespace weft::coordinator
