#include "apps/coordinator/http/responses.h"

#include <algorithm>

#include "apps/coordinator/http/openai_reading.h"
#include "common/base/format.h"
#include "common/crypto/keys.h"
#include "common/json/quote.h"

namespace weft::coordinator {

namespace {

using reading::Members;

constexpr std::size_t response_text_max = protocol::serving::text_bytes_max;
constexpr json::StringBounds id_bounds{.bytes_max = 128};

// Removes line ends, which may not occur inside an event of a stream. JSON strings contain none.
std::string one_line(std::string_view text) {
  std::string out(text);
  std::ranges::replace(out, '\n', ' ');
  std::ranges::replace(out, '\r', ' ');
  return out;
}

Result<std::string> text_at(const Members& members, const json::Value& where,
                            const std::string& key, json::StringBounds bounds) {
  const auto found = members.find(key);
  if (found == members.end()) return where.error("lacks the key \"{}\"", key);
  return found->second.string(bounds);
}

Result<> read_item(const json::Value& item, ItemMessages& messages) {
  WEFT_ASSIGN(const Members members, reading::members_of(item));
  std::string type = "message";
  if (const auto given = members.find("type"); given != members.end()) {
    WEFT_ASSIGN(type, given->second.string({.bytes_max = 64}));
  }
  if (type == "message") {
    WEFT_ASSIGN(const std::string role, text_at(members, item, "role", {.bytes_max = 64}));
    if (role != "user" && role != "assistant" && role != "system" && role != "developer")
      return members.at("role").error(
          "must be \"user\", \"assistant\", \"system\" or \"developer\"");
    const auto content = members.find("content");
    if (content == members.end()) return item.error("lacks the key \"content\"");
    WEFT_ASSIGN(const std::string text, reading::content_of(content->second));
    messages.add(role == "developer" ? "system" : role, text);
    return {};
  }
  if (type == "function_call") {
    WEFT_ASSIGN(const std::string id, text_at(members, item, "call_id", id_bounds));
    WEFT_ASSIGN(const std::string name, text_at(members, item, "name", id_bounds));
    const auto given = members.find("arguments");
    if (given == members.end()) return item.error("lacks the key \"arguments\"");
    WEFT_ASSIGN(const std::string arguments, reading::arguments_of(given->second));
    messages.add_call(id, name, arguments);
    return {};
  }
  if (type == "function_call_output") {
    WEFT_ASSIGN(const std::string id, text_at(members, item, "call_id", id_bounds));
    const auto output = members.find("output");
    if (output == members.end()) return item.error("lacks the key \"output\"");
    WEFT_ASSIGN(const std::string text, reading::content_of(output->second));
    messages.add_result(id, text);
    return {};
  }
  if (type == "reasoning") return {};  // Skipped, because templates omit earlier thoughts.
  return members.at("type").error(
      "is {}; items here are message, function_call, function_call_output and reasoning",
      json::quote(type));
}

Result<std::string> read_input(const json::Value& input) {
  ItemMessages messages;
  if (input.kind() == json::Kind::string) {
    WEFT_ASSIGN(const std::string text, input.string({.bytes_max = response_text_max}));
    messages.add("user", text);
    return messages.take();
  }
  std::size_t count = 0;
  WEFT_OK(input.for_each({.count_max = 4096}, [&](const json::Value& item) {
    ++count;
    return read_item(item, messages);
  }));
  if (count == 0) return input.error("must not be empty");
  return messages.take();
}

// Converts functions from the flat form to the form of chat completions.
Result<std::string> read_functions(const json::Value& list) {
  std::string out;
  WEFT_OK(list.for_each({.count_max = 256}, [&](const json::Value& tool) -> Result<> {
    WEFT_ASSIGN(const Members members, reading::members_of(tool));
    WEFT_ASSIGN(const std::string type, text_at(members, tool, "type", {.bytes_max = 64}));
    if (type != "function")
      return members.at("type").error("is {}; only functions are tools here", json::quote(type));
    WEFT_ASSIGN(const std::string name, text_at(members, tool, "name", id_bounds));
    std::string function = "\"name\":" + json::quote(name);
    for (const char* key : {"description", "parameters", "strict"}) {
      if (const auto found = members.find(key); found != members.end())
        function += weft::format(",\"{}\":{}", key, found->second.text());
    }
    out += weft::format(R"({}{{"type":"function","function":{{{}}}}})", out.empty() ? "" : ",",
                        function);
    return {};
  }));
  return out.empty() ? out : "[" + out + "]";
}

Result<> read_tools(const Members& members, OpenAiRequest& out) {
  ResponseRequest& response = *out.response;
  reading::ToolWish wish;
  if (const auto list = members.find("tools"); list != members.end()) {
    WEFT_ASSIGN(wish.list, read_functions(list->second));
    response.tools_json = one_line(list->second.text());
  }
  wish.word = wish.list.empty() ? "none" : "auto";
  const auto choice = members.find("tool_choice");
  if (choice != members.end()) {
    response.tool_choice_json = one_line(choice->second.text());
    if (choice->second.kind() == json::Kind::string) {
      WEFT_ASSIGN(wish.word, choice->second.string());
    } else {
      WEFT_ASSIGN(const Members inner, reading::members_of(choice->second));
      WEFT_ASSIGN(const std::string type,
                  text_at(inner, choice->second, "type", {.bytes_max = 64}));
      if (type == "function") {
        WEFT_ASSIGN(wish.name, text_at(inner, choice->second, "name", id_bounds));
        wish.word = "required";
      } else {
        wish.word = type;
      }
    }
    if (wish.word != "none" && wish.word != "auto" && wish.word != "required")
      return choice->second.error("must be \"none\", \"auto\", \"required\" or a function");
  }
  WEFT_OK(reading::read_flag(members, "parallel_tool_calls", wish.parallel));
  response.parallel = wish.parallel;
  WEFT_ASSIGN(response.tools_member,
              reading::take_tools(wish, choice == members.end() ? nullptr : &choice->second, out));
  return {};
}

Result<> read_text(const Members& members, OpenAiRequest& out) {
  const auto text = members.find("text");
  if (text == members.end()) return {};
  WEFT_ASSIGN(const Members inner, reading::members_of(text->second));
  const auto format = inner.find("format");
  if (format == inner.end()) return {};
  WEFT_ASSIGN(const Members parts, reading::members_of(format->second));
  const auto type = parts.find("type");
  if (type == parts.end()) return format->second.error("lacks the key \"type\"");
  WEFT_OK(reading::hold_to_format(type->second, format->second, out));
  if (!out.ask.format.empty()) out.held_by = "text.format";
  out.response->text_json = weft::format(R"({{"format":{}}})", one_line(format->second.text()));
  return {};
}

Result<> refuse_unsupported(const Members& members) {
  bool background = false;
  WEFT_OK(reading::read_flag(members, "background", background));
  if (background) return members.at("background").error("is not supported here");
  for (const char* key : {"conversation", "prompt"}) {
    if (const auto found = members.find(key); found != members.end())
      return found->second.error("is not supported here");
  }
  if (const auto include = members.find("include"); include != members.end()) {
    WEFT_OK(include->second.for_each({.count_max = 16}, [](const json::Value& one) -> Result<> {
      return one.error("is not supported here");
    }));
  }
  if (const auto truncation = members.find("truncation"); truncation != members.end()) {
    WEFT_ASSIGN(const std::string word, truncation->second.string());
    if (word != "disabled") return truncation->second.error("must be \"disabled\" here");
  }
  std::uint32_t top = 0;
  return reading::read_count(members, "top_logprobs", 0, 0, top);
}

Result<> read_metadata(const Members& members, ResponseRequest& out) {
  const auto metadata = members.find("metadata");
  if (metadata == members.end()) return {};
  WEFT_ASSIGN(const auto entries, metadata->second.members({.count_max = 16}));
  for (const auto& [key, value] : entries) {
    if (key.size() > 64) return value.error("has a key of more than 64 bytes");
    WEFT_ASSIGN(const std::string text, value.string({.bytes_max = 512}));
    static_cast<void>(text);
  }
  out.metadata_json = one_line(metadata->second.text());
  return {};
}

}  // namespace

void ItemMessages::append(std::string_view message) {
  if (!out_.empty()) out_ += ',';
  out_ += message;
}

void ItemMessages::flush() {
  if (!answer_ && calls_.empty()) return;
  append(weft::format(R"({{"role":"assistant","content":{}{}}})", json::quote(answer_.value_or("")),
                      calls_.empty() ? "" : R"(,"tool_calls":[)" + calls_ + "]"));
  answer_.reset();
  calls_.clear();
}

void ItemMessages::add(std::string_view role, std::string_view content) {
  flush();
  if (role == "assistant") {
    answer_ = content;
    return;
  }
  append(weft::format(R"({{"role":{},"content":{}}})", json::quote(role), json::quote(content)));
}

void ItemMessages::add_call(std::string_view id, std::string_view name,
                            std::string_view arguments) {
  calls_ +=
      weft::format(R"({}{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}}})",
                   calls_.empty() ? "" : ",", json::quote(id), json::quote(name), arguments);
}

void ItemMessages::add_result(std::string_view id, std::string_view content) {
  flush();
  append(weft::format(R"({{"role":"tool","tool_call_id":{},"content":{}}})", json::quote(id),
                      json::quote(content)));
}

std::string ItemMessages::take() {
  flush();
  return std::exchange(out_, {});
}

Result<OpenAiRequest> read_response_request(std::string_view body, std::uint64_t seed) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = reading::body_bytes_max}));
  WEFT_ASSIGN(const Members members, reading::members_of(root));
  WEFT_OK(refuse_unsupported(members));
  WEFT_ASSIGN(OpenAiRequest out, reading::read_drawing(members, root, seed));
  out.choices = 1;
  out.chat = true;
  out.response = std::make_shared<ResponseRequest>();
  ResponseRequest& response = *out.response;
  Hash random;
  crypto::random_bytes(random.bytes);
  response.id = "resp_" + random.text().substr(0, 48);

  const auto input = members.find("input");
  if (input == members.end()) return root.error("lacks the key \"input\"");
  WEFT_ASSIGN(response.messages, read_input(input->second));
  if (const auto given = members.find("instructions"); given != members.end()) {
    WEFT_ASSIGN(const std::string text, given->second.string({.bytes_max = response_text_max}));
    ItemMessages one;
    one.add("system", text);
    response.instructions = one.take();
    response.instructions_json = json::quote(text);
  }
  if (const auto previous = members.find("previous_response_id"); previous != members.end()) {
    WEFT_ASSIGN(response.previous, previous->second.string(id_bounds));
    if (response.previous.empty()) return previous->second.error("must not be empty");
  }
  WEFT_OK(reading::read_flag(members, "store", response.store));
  WEFT_OK(read_metadata(members, response));
  WEFT_OK(read_text(members, out));
  WEFT_OK(read_tools(members, out));
  out.ask.tokens_max = reading::tokens_default;
  WEFT_OK(reading::read_count(members, "max_output_tokens", 1, reading::tokens_default,
                              out.ask.tokens_max));
  out.names_bound = members.contains("max_output_tokens");
  if (out.names_bound) response.tokens_max = out.ask.tokens_max;
  return out;
}

Result<> go_on(OpenAiRequest& request, const StoredResponse* previous) {
  ResponseRequest& response = *request.response;
  if (previous == nullptr) {
    reading::mix_conversation(request.conversation, response.instructions);
    reading::mix_conversation(request.conversation, response.messages);
  } else {
    request.conversation = previous->conversation;
    response.messages = previous->messages + "," + response.messages;
  }
  const std::string all =
      (response.instructions.empty() ? "" : response.instructions + ",") + response.messages;
  std::string prompt = chat_prompt(all, response.tools_member);
  // A stored conversation may have grown beyond the size of a request.
  const bool fits =
      prompt.size() <= response_text_max &&
      json::quote(prompt).size() + json::quote(request.ask.rule).size() <= reading::frame_text_max;
  if (!fits)
    return fail(ErrorCode::invalid_argument,
                "input: has, with the conversation before it, {} bytes, which no model here reads",
                prompt.size());
  request.prompts = {std::move(prompt)};
  return {};
}

}  // namespace weft::coordinator
