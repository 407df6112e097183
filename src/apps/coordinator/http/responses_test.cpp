// Tests of requests and replies of /v1/responses: conversion of items to messages and back,
// refusals, the order of a stream's events, and storage for the next turn.
#include "apps/coordinator/http/responses.h"

#include <gtest/gtest.h>

#include "apps/coordinator/http/response_text.h"
#include "common/json/json.h"

namespace weft::coordinator {
namespace {

OpenAiRequest asked(std::string_view more, std::string_view input = R"("Hello")") {
  auto read = read_response_request(
      R"({"model":"m",)" + std::string(more) + R"("input":)" + std::string(input) + "}", 7);
  EXPECT_TRUE(read) << read.error().message;
  if (!read) return {};
  EXPECT_TRUE(go_on(*read, nullptr));
  return std::move(*read);
}

TEST(Responses, ReadTextWithInstructions) {
  const auto request = asked(R"("instructions":"Be brief.",)");
  EXPECT_EQ(
      request.prompts.at(0),
      R"({"add_generation_prompt":true,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello"}]})");
  EXPECT_FALSE(request.response->store) << "only where it is asked for";
  EXPECT_TRUE(request.response->id.starts_with("resp_"));
  EXPECT_EQ(request.response->id.size(), 53u);
  EXPECT_NE(request.response->id, asked("").response->id);
}

TEST(Responses, ReadItemsAsMessages) {
  const auto request = asked("", R"([{"role":"developer","content":"D"},
    {"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]},
    {"type":"reasoning","summary":[]},
    {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Let me see."}]},
    {"type":"function_call","call_id":"c1","name":"f","arguments":"{\"x\": 1}"},
    {"type":"function_call","call_id":"c2","name":"g","arguments":""},
    {"type":"function_call_output","call_id":"c1","output":"one"}])");
  EXPECT_EQ(
      request.response->messages,
      R"({"role":"system","content":"D"},{"role":"user","content":"ab"},{"role":"assistant","content":"Let me see.","tool_calls":[)"
      R"({"id":"c1","type":"function","function":{"name":"f","arguments":{"x": 1}}},{"id":"c2","type":"function","function":{"name":"g","arguments":{}}}]},)"
      R"({"role":"tool","tool_call_id":"c1","content":"one"})");
}

TEST(Responses, ReadToolsAndFormats) {
  const auto request = asked(
      R"("tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"}}],"tool_choice":{"type":"function","name":"f"},)");
  EXPECT_TRUE(request.prompts.at(0).ends_with(
      R"("tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}]})"))
      << request.prompts.at(0);
  EXPECT_EQ(request.ask.format, "tool");
  EXPECT_EQ(request.ask.rule, "f");
  const auto held = asked(
      R"("text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}}},"max_output_tokens":5,)");
  EXPECT_EQ(held.ask.format, "schema");
  EXPECT_EQ(held.ask.rule, R"({"type":"object"})");
  EXPECT_EQ(held.held_by, "text.format");
  EXPECT_EQ(held.ask.tokens_max, 5u);
}

TEST(Responses, RefuseWithTheirPlace) {
  const auto refused = [](std::string_view more, std::string_view what) {
    const auto read = read_response_request(R"({"model":"m",)" + std::string(more) + "}", 0);
    ASSERT_FALSE(read) << more;
    EXPECT_TRUE(read.error().message.contains(what)) << read.error().message;
    EXPECT_EQ(openai_error(read.error()).status, 400);
  };
  refused(R"("x":1)", "lacks the key \"input\"");
  refused(R"("input":[])", "input: must not be empty");
  refused(R"("input":[{"type":"item_reference","id":"x"}])",
          "input[0].type: is \"item_reference\"");
  refused(R"("input":[{"role":"tool","content":"x"}])", "input[0].role: must be \"user\"");
  refused(R"("input":[{"role":"user","content":[{"type":"input_image"}]}])",
          "input[0].content[0]: is not a part");
  refused(R"("input":[{"type":"function_call","call_id":"c","name":"f","arguments":"[]"}])",
          "input[0].arguments: must be the text of a JSON object");
  refused(R"("input":"x","background":true)", "background: is not supported here");
  refused(R"("input":"x","conversation":"c")", "conversation: is not supported here");
  refused(R"("input":"x","truncation":"auto")", "truncation: must be \"disabled\" here");
  refused(R"("input":"x","include":["a"])", "include[0]: is not supported here");
  refused(R"("input":"x","top_logprobs":1)", "top_logprobs: ");
  refused(R"("input":"x","metadata":{"a":1})", "metadata.a: ");
  refused(R"("input":"x","tools":[{"type":"web_search"}])", "tools[0].type: is \"web_search\"");
  refused(R"("input":"x","tools":[{"type":"function"}])", "tools[0]: lacks the key \"name\"");
  refused(R"("input":"x","tool_choice":"required")", "tool_choice: needs tools");
  refused(R"("input":"x","text":{"format":{"type":"xml"}})", "text.format.type: must be");
  refused(R"("input":"x","temperature":3)", "temperature: must be from 0 to 2");
}

const std::vector<std::string> texts = {
    "<think>",
    "so",
    "</think>",
    "\n\nLet me",
    " see.\n<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"b\"}}",
    "</tool_call>"};
constexpr std::string_view with_tool = R"("tools":[{"type":"function","name":"f"}],)";

struct Heard {
  std::vector<std::string> types;
  std::vector<std::string> datas;
};
// Reads a stream. Each event must have one line of data, and name its type both in the event and in
// the data.
Heard heard(const std::string& stream) {
  Heard out;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t end = stream.find("\n\n", at);
    const std::string event = stream.substr(at, end - at);
    at = end + 2;
    const std::size_t line = event.find('\n');
    EXPECT_TRUE(event.starts_with("event: "));
    EXPECT_EQ(event.find('\n', line + 1), std::string::npos) << event;
    const std::string data = event.substr(line + 7);
    const auto read = json::parse(data);
    EXPECT_TRUE(read) << data;
    out.types.push_back(event.substr(7, line - 7));
    EXPECT_TRUE(data.starts_with(R"({"type":")" + out.types.back() + R"(","sequence_number":)" +
                                 std::to_string(out.types.size() - 1) + ","))
        << data;
    out.datas.push_back(data);
  }
  return out;
}

std::string streamed(ResponseText& text, const inference::AnswerEnd& end) {
  std::string out = text.begin();
  for (const std::string& one : texts)
    out += text.tokens(0, {{.id = 1, .text = one, .piece = one}});
  out += text.end(0, end);
  out += text.close();
  return out;
}

TEST(ResponseText, StreamsEachItemFromItsBeginToItsEnd) {
  ResponseText text(asked(std::string(with_tool) + "\"stream\":true,\"metadata\":{\"a\":\n\"b\"},"),
                    7);
  const Heard events =
      heard(streamed(text, {.reason = "eos", .prompt_tokens = 3, .answer_tokens = 6}));

  const std::vector<std::string> expected = {
      "response.created", "response.in_progress",
      // The events of the thought.
      "response.output_item.added", "response.content_part.added", "response.reasoning_text.delta",
      "response.reasoning_text.done", "response.content_part.done", "response.output_item.done",
      // The events of the text.
      "response.output_item.added", "response.content_part.added", "response.output_text.delta",
      "response.output_text.delta", "response.output_text.done", "response.content_part.done",
      "response.output_item.done",
      // The events of the call.
      "response.output_item.added", "response.function_call_arguments.delta",
      "response.function_call_arguments.done", "response.output_item.done", "response.completed"};
  EXPECT_EQ(events.types, expected);
  EXPECT_TRUE(events.datas[0].contains(R"("status":"in_progress")"));
  EXPECT_TRUE(events.datas[0].contains(R"("output":[])"));
  const std::string& last = events.datas.back();
  EXPECT_TRUE(last.contains(R"("status":"completed","background":false)")) << last;
  EXPECT_TRUE(last.contains(R"({"type":"output_text","text":"Let me see.","annotations":[])"));
  EXPECT_TRUE(last.contains(R"("name":"f","arguments":"{\"a\": \"b\"}","status":"completed")"));
  EXPECT_TRUE(last.contains(R"("metadata":{"a": "b"})"));
  EXPECT_TRUE(last.contains(R"("input_tokens":3)"));
}

TEST(ResponseText, SaysTheSameWholeAndStreamed) {
  const auto request = asked(with_tool);
  ResponseText whole(request, 7);
  EXPECT_EQ(streamed(whole, {.reason = "eos"}), "");
  auto with_events = request;
  with_events.stream = true;
  ResponseText events(with_events, 7);
  const Heard last = heard(streamed(events, {.reason = "eos"}));
  EXPECT_TRUE(last.datas.back().ends_with("\"response\":" + whole.document() + "}"))
      << last.datas.back() << whole.document();
}

TEST(ResponseText, WhatIsCutOrFailsSaysSo) {
  auto request = asked("\"stream\":true,");
  ResponseText cut(request, 7);
  (void)cut.tokens(0, {{.id = 1, .text = "Hal", .piece = "Hal"}});
  std::string end = cut.end(0, {.reason = "length"});
  end += cut.close();
  EXPECT_TRUE(end.contains("event: response.incomplete")) << end;
  EXPECT_TRUE(end.contains(R"("incomplete_details":{"reason":"max_output_tokens"})"));
  EXPECT_TRUE(end.contains(R"("status":"incomplete","role":"assistant")"));
  ResponseText failed(request, 7);
  (void)failed.tokens(0, {{.id = 1, .text = "Hal", .piece = "Hal"}});
  std::string why = failed.end(0, {.reason = "failed", .error = {ErrorCode::unavailable, "Gone."}});
  why += failed.close();
  EXPECT_TRUE(why.contains("event: response.failed")) << why;
  EXPECT_TRUE(why.contains(R"("error":{"code":"server_error","message":"Gone."})"));
}

TEST(ResponseText, IsKeptWhereThatWasAskedForAndGoneOnWith) {
  ResponseStore store({});
  auto request = asked(std::string(with_tool) + "\"store\":true,\"instructions\":\"I\",");
  request.response->kept = &store;
  request.response->owner = "alice";
  ResponseText text(request, 7);
  (void)streamed(text, {.reason = "eos"});

  const auto kept = store.find(request.response->id, "alice", now());
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ((*kept)->document, text.document());
  EXPECT_TRUE(text.document().contains("\"store\":true"));
  auto next = read_response_request(
      R"({"model":"m","previous_response_id":")" + request.response->id +
          R"(","input":[{"type":"function_call_output","call_id":"c","output":"done"}]})",
      7);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->response->previous, request.response->id);
  ASSERT_TRUE(go_on(*next, kept->get()));
  EXPECT_EQ(next->conversation, request.conversation) << "it is best answered where it began";
  EXPECT_FALSE(next->prompts.at(0).contains("\"I\"")) << "instructions are of one turn";
  EXPECT_FALSE(next->prompts.at(0).contains("so")) << "thoughts are not gone on with";
  EXPECT_TRUE(next->prompts.at(0).contains(
      R"({"role":"user","content":"Hello"},{"role":"assistant","content":"Let me see.","tool_calls":[)"))
      << next->prompts.at(0);
}

TEST(ResponseText, IsNotKeptOtherwise) {
  ResponseStore store({});
  auto request = asked("");
  request.response->kept = &store;
  ResponseText text(request, 7);
  (void)streamed(text, {.reason = "eos"});
  EXPECT_FALSE(store.find(request.response->id, "", now()));

  auto failing = asked("\"store\":true,");
  failing.response->kept = &store;
  ResponseText failed(failing, 7);
  (void)streamed(failed, {.reason = "failed"});
  EXPECT_FALSE(store.find(failing.response->id, "", now()));

  ResponseStore none({.bytes_max = 100});
  auto full = asked("\"store\":true,");
  full.response->kept = &none;
  ResponseText unkept(full, 7);
  (void)streamed(unkept, {.reason = "eos"});
  EXPECT_TRUE(unkept.document().contains("\"store\":false")) << "it says what became of it";
}

TEST(Responses, AConversationEndsWhereNoModelReadsIt) {
  auto request = asked("");
  const StoredResponse before{
      .owner = "", .document = "", .messages = std::string(protocol::serving::text_bytes_max, 'x')};
  const auto refused = go_on(request, &before);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("input: has")) << refused.error().message;
}

}  // namespace
}  // namespace weft::coordinator
