// Tests of the answer parser: thoughts, calls and text give the same pieces wherever the answer is
// cut, and every byte occurs once. engine/chat/tool_calls_test.cpp has the answers that templates
// write.
#include "common/tools/answer_parser.h"

#include <gtest/gtest.h>

#include <random>

namespace weft::tools {
namespace {

Tools offered() {
  return read_tools(R"([
    {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object",
      "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}}},
    {"type": "function", "function": {"name": "f"}}])")
      .value();
}

// The answer for a reader, with neighbouring texts joined.
struct Heard {
  std::string text, thought, raw;
  std::vector<std::pair<std::string, std::string>> calls;
  std::string cut;

  friend bool operator==(const Heard&, const Heard&) = default;
};
void PrintTo(const Heard& heard, std::ostream* out) {
  *out << "text [" << heard.text << "] thought [" << heard.thought << "] cut [" << heard.cut << "]";
  for (const auto& [name, arguments] : heard.calls) *out << " " << name << arguments;
}

void add(const std::vector<Piece>& pieces, Heard& out) {
  for (const Piece& piece : pieces) {
    out.raw += piece.raw;
    switch (piece.kind) {
      case Piece::Kind::text:
        out.text += piece.text;
        break;
      case Piece::Kind::thought:
        out.thought += piece.text;
        break;
      case Piece::Kind::call:
        out.calls.emplace_back(piece.name, piece.arguments);
        break;
      case Piece::Kind::cut:
        out.cut += piece.text;
        break;
    }
  }
}

Heard parse(std::string_view answer, const std::vector<std::size_t>& cuts, bool whole,
            Tools tools) {
  AnswerParser parser(std::move(tools));
  Heard out;
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    add(parser.push(answer.substr(from, cut - from)), out);
    from = cut;
  }
  add(parser.push(answer.substr(from)), out);
  add(parser.finish(whole), out);
  return out;
}

// Parses an answer whole, byte by byte, and in two parts cut at every place, and expects equal
// pieces each time.
Heard parse_everyhow(std::string_view answer, bool whole = true, const Tools& tools = offered()) {
  const Heard expected = parse(answer, {}, whole, tools);
  EXPECT_EQ(expected.raw, answer);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < answer.size(); ++i) {
    all.push_back(i);
    EXPECT_EQ(parse(answer, {i}, whole, tools), expected) << answer << " cut at " << i;
  }
  EXPECT_EQ(parse(answer, all, whole, tools), expected) << answer << " byte by byte";
  return expected;
}

using Calls = std::vector<std::pair<std::string, std::string>>;

TEST(AnswerParser, CallsOfEveryFormatAreFound) {
  const std::string arguments = R"({"city": "</tool_call> \"}", "days": 2})";
  const Calls one = {{"get_weather", arguments}};
  const Calls two = {{"get_weather", arguments}, {"f", "{}"}};

  EXPECT_EQ(parse_everyhow("<tool_call>\n{\"name\": \"get_weather\", \"arguments\": " + arguments +
                           "}\n</tool_call>")
                .calls,
            one);
  EXPECT_EQ(
      parse_everyhow(
          "Let me look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": " + arguments +
          "}\n</tool_call>\n<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n"
          "</tool_call>\n"),
      (Heard{
          .text = "Let me look.",
          .thought = "",
          .raw =
              "Let me look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": " + arguments +
              "}\n</tool_call>\n<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>\n",
          .calls = two,
          .cut = ""}));
  EXPECT_EQ(parse_everyhow("<tool_call>\n<function=get_weather>\n<parameter=city>\n</parameter> "
                           "x\nline\n</parameter>\n<parameter=days>\n2\n</parameter>\n</function>\n"
                           "</tool_call>")
                .calls,
            (Calls{{"get_weather", R"({"city": "</parameter> x\nline", "days": 2})"}}));
  EXPECT_EQ(parse_everyhow("{\"name\": \"get_weather\", \"parameters\": " + arguments + "}").calls,
            one);
  EXPECT_EQ(parse_everyhow("{\"name\": \"get_weather\", \"parameters\": " + arguments +
                           "}; {\"name\": \"f\", \"parameters\": {}}")
                .calls,
            two);
  EXPECT_EQ(parse_everyhow("<|python_tag|>{\"name\": \"f\", \"parameters\": {}}").calls,
            (Calls{{"f", "{}"}}));
  EXPECT_EQ(parse_everyhow("[TOOL_CALLS][{\"name\": \"get_weather\", \"arguments\": " + arguments +
                           "}, {\"name\": \"f\", \"arguments\": {}, \"id\": \"123456789\"}]")
                .calls,
            two);
  EXPECT_EQ(
      parse_everyhow("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_"
                     "weather\n```json\n" +
                     arguments +
                     "\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n"
                     "```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>")
          .calls,
      two);
}

TEST(AnswerParser, ThoughtsAreSetApart) {
  const Heard heard = parse_everyhow("<think>\nIs it <b>?\n</think>\n\nIt is.");

  EXPECT_EQ(heard.thought, "\nIs it <b>?\n");
  EXPECT_EQ(heard.text, "It is.");
  EXPECT_EQ(parse_everyhow("<think>so</think>\n<tool_call>{\"name\": \"f\"}</tool_call>").calls,
            (Calls{{"f", "{}"}}));
  EXPECT_EQ(parse_everyhow("<think>never ends").thought, "never ends");
  EXPECT_EQ(parse_everyhow("<thin").text, "<thin");
  EXPECT_EQ(parse_everyhow("It said <think>.").text, "It said <think>.");
  EXPECT_EQ(parse_everyhow("<think>a</think> b", true, {}).text, "b");
}

TEST(AnswerParser, WhatIsNoCallIsText) {
  for (const std::string text :
       {"a < b <tool", "<tool_call>no json</tool_call>",
        "<tool_call>{\"name\": \"unknown\", \"arguments\": {}}</tool_call> end", "{\"answer\": 42}",
        "{\"name\": \"Bob\", \"age\": 3}", "[TOOL_CALLS] are nice",
        "<tool_call>{\"name\": \"f\", \"arguments\": 3}</tool_call>",
        "<tool_call><function=g></function></tool_call>", "  leading and trailing \n",
        "<|python_tag|>print(1)", "<tool_call>{\"name\": \"f\"}</tool_call"}) {
    const Heard heard = parse_everyhow(text, text.size() != 38);
    EXPECT_EQ(heard.text + heard.cut, text);
    EXPECT_TRUE(heard.calls.empty()) << text;
  }
  const std::string call = "<tool_call>{\"name\": \"f\"}</tool_call>";
  EXPECT_EQ(parse_everyhow(call, true, {}).text, call);  // No tools were offered.
}

TEST(AnswerParser, CutCallsAreToldAsSuch) {
  const std::string call =
      "Well.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [1]}}\n</tool_call>";
  const std::size_t begin = call.find("<tool_call>") + std::string_view("<tool_call>").size();
  for (std::size_t end = begin; end < call.size(); ++end) {
    const Heard heard = parse_everyhow(call.substr(0, end), false);
    EXPECT_TRUE(heard.calls.empty()) << end;
    EXPECT_EQ(heard.text, "Well.");
    EXPECT_EQ("Well." + heard.cut, call.substr(0, end));
  }
  // A model that ends its answer with the object means the call.
  EXPECT_EQ(parse_everyhow("<tool_call>\n{\"name\": \"f\"}", true).calls, (Calls{{"f", "{}"}}));
}

TEST(AnswerParser, RandomAnswersKeepEveryByte) {
  const std::string_view parts[] = {"<tool_call>",
                                    "</tool_call>",
                                    "{",
                                    "}",
                                    "\"name\": \"f\"",
                                    ", ",
                                    "\"arguments\": {}",
                                    "\n",
                                    " ",
                                    "<function=f>",
                                    "</function>",
                                    "<parameter=a>",
                                    "</parameter>",
                                    "[TOOL_CALLS]",
                                    "[",
                                    "]",
                                    "<think>",
                                    "</think>",
                                    "<｜tool▁calls▁begin｜>",
                                    "<｜tool▁call▁begin｜>",
                                    "<｜tool▁sep｜>",
                                    "f\n",
                                    "```json",
                                    "```",
                                    "<｜tool▁call▁end｜>",
                                    "<｜tool▁calls▁end｜>",
                                    "<|python_tag|>",
                                    "text",
                                    "\\\"",
                                    ";"};
  std::mt19937_64 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string answer;
    for (auto count = random() % 14; count > 0; --count)
      answer += parts[random() % std::size(parts)];
    const bool whole = random() % 2 == 0;
    const Heard expected = parse(answer, {}, whole, offered());
    ASSERT_EQ(expected.raw, answer);
    std::vector<std::size_t> cuts;
    for (std::size_t i = 0; i < answer.size(); ++i)
      if (random() % 3 == 0) cuts.push_back(i);
    ASSERT_EQ(parse(answer, cuts, whole, offered()), expected) << answer;
  }
}

TEST(ReadTools, NamesWhatIsWrong) {
  EXPECT_EQ(read_tools(R"([{"type": "custom"}])").error().message.substr(0, 19),
            "[0].type: must be \"");
  EXPECT_FALSE(read_tools("{}"));
  EXPECT_FALSE(read_tools(R"([{"function": {"name": "a b"}}])"));
  EXPECT_FALSE(read_tools(R"([{"function": {"name": "a"}}, {"function": {"name": "a"}}])"));
}

}  // namespace
}  // namespace weft::tools
