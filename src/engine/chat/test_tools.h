// Test data: tools, calls of them, and answers in the formats of the templates.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/base/test_data.h"
#include "common/json/quote.h"
#include "engine/chat/chat_template.h"

namespace weft::chat::samples {

inline constexpr std::string_view offered_tools = R"([
  {"type": "function", "function": {"name": "get_weather", "description": "The weather.", "parameters": {"type": "object",
    "properties": {"city": {"type": "string", "description": "Where"}, "days": {"type": "integer", "description": "How many"}}, "required": ["city"]}}},
  {"type": "function", "function": {"name": "search_all", "description": "Searches.", "parameters": {"type": "object",
    "properties": {"query": {"type": "string", "description": "What"}, "limits": {"type": "array", "items": {"type": "number"}, "description": "Limits"},
      "exact": {"type": "boolean", "description": "As it is"}, "filter": {"type": "object", "properties": {"k": {"type": "null"}}, "description": "F"}}, "required": []}}}])";

// A template of the test data whose answers contain tool calls.
struct ToolTemplate {
  std::string_view file;
  std::string_view header;  // The text before the answer.
  std::string_view end;     // The text after the answer.
  std::string_view opener;  // The text at the beginning of calls.
  bool many;
};
inline constexpr ToolTemplate tool_templates[] = {
    {"NousResearch-Hermes-3-Llama-3.1-8B-tool_use", "<|im_start|>assistant\n", "<|im_end|>",
     "<tool_call>", true},
    {"Qwen-Qwen2.5-7B-Instruct", "<|im_start|>assistant\n", "<|im_end|>", "<tool_call>", true},
    {"Qwen-Qwen3-0.6B", "<|im_start|>assistant\n", "<|im_end|>", "<tool_call>", true},
    {"Qwen3.5-4B", "<|im_start|>assistant\n", "<|im_end|>", "<tool_call>", true},
    {"meta-llama-Llama-3.1-8B-Instruct", "<|start_header_id|>assistant<|end_header_id|>\n\n",
     "<|eot_id|>", "{\"name\"", false},
    {"meta-llama-Llama-3.2-3B-Instruct", "<|start_header_id|>assistant<|end_header_id|>\n\n",
     "<|eot_id|>", "{\"name\"", false},
    {"mistralai-Mistral-Nemo-Instruct-2407", "[/INST]", "</s>", "[TOOL_CALLS]", true},
    {"deepseek-ai-DeepSeek-R1-Distill-Qwen-32B", "<｜Assistant｜>", "<｜end▁of▁sentence｜>",
     "<｜tool▁calls▁begin｜>", true}};

inline std::string template_source(const ToolTemplate& one) {
  return weft::test::read_bytes(
      *weft::test::find_data("data/chat/templates/" + std::string(one.file) + ".jinja"));
}

using Calls = std::vector<std::pair<std::string, std::string>>;  // Names and arguments of calls.

inline std::string random_string(std::mt19937_64& random) {
  constexpr std::string_view parts[] = {
      "Tokyo", "é", "\"",   "\\", "a\nb", "</tool_call>", "{", "}", "]", "<function=x>", "日本",
      " ",     "5", "true", "'",  "<",    "```"};
  std::string out = "x";
  for (auto count = random() % 5; count > 0; --count) out += parts[random() % std::size(parts)];
  return out + "y";
}

// Makes a call of a random tool with random arguments, written as JSON.
inline std::pair<std::string, std::string> random_call(std::mt19937_64& random) {
  std::string arguments;
  const auto add = [&](std::string_view key, const std::string& value) {
    arguments += (arguments.empty() ? "\"" : ", \"") + std::string(key) + "\": " + value;
  };
  if (random() % 2 == 0) {
    add("city", json::quote(random_string(random)));
    if (random() % 2 == 0) add("days", std::to_string(random() % 100));
    return {"get_weather", "{" + arguments + "}"};
  }
  if (random() % 2 == 0) add("query", json::quote(random_string(random)));
  if (random() % 2 == 0) add("limits", "[1, 2.5, -3]");
  if (random() % 2 == 0) add("exact", random() % 2 == 0 ? "true" : "false");
  if (random() % 2 == 0)
    add("filter", R"({"k": null, "l": {"m": [")" + std::string("é]}") + R"("]}})");
  return {"search_all", "{" + arguments + "}"};
}

// Returns the answer of a model that makes these calls: the assistant's part of the rendered
// conversation.
inline std::string answer_with(const ToolTemplate& one, const Calls& calls) {
  std::string list;
  for (std::size_t i = 0; i < calls.size(); ++i)
    list += std::string(i > 0 ? "," : "") + R"({"id":"abcdefgh)" + std::to_string(i) +
            R"(","type":"function","function":{"name":")" + calls[i].first + R"(","arguments":)" +
            calls[i].second + "}}";
  const std::string input =
      R"({"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":"","tool_calls":[)" +
      list + R"(]}],"tools":)" + std::string(offered_tools) +
      R"(,"add_generation_prompt":false,"bos_token":"<s>","eos_token":"</s>"})";
  const auto chat = ChatTemplate::parse(template_source(one));
  if (!chat) return chat.error().message;
  const auto text = chat->render(input, {.now = {.year = 2026}});
  if (!text) return text.error().message;
  const std::size_t header = text->find(one.header);
  if (header == std::string::npos) return *text;
  const std::size_t begin = header + one.header.size();
  return text->substr(begin, text->find(one.end, begin) - begin);
}

}  // namespace weft::chat::samples
