#include "apps/coordinator/http/openai.h"

#include <algorithm>
#include <initializer_list>

#include "apps/coordinator/http/embeddings.h"
#include "apps/coordinator/http/openai_reading.h"
#include "common/base/format.h"
#include "common/json/json.h"
#include "common/json/quote.h"

namespace weft::coordinator {

namespace {

using namespace reading;

constexpr std::uint32_t completion_tokens_default = 16;
constexpr std::uint32_t choices_max = 8;

// Reads the constraint of the answer from "grammar" and "response_format".
Result<> read_format(const Members& members, OpenAiRequest& out) {
  protocol::serving::Ask& ask = out.ask;
  const auto grammar = members.find("grammar");
  if (grammar != members.end()) {
    WEFT_ASSIGN(ask.rule, grammar->second.string({.bytes_max = protocol::serving::rule_bytes_max}));
    ask.format = "gbnf";
    out.held_by = "grammar";
  }
  const auto format = members.find("response_format");
  if (format == members.end()) return {};
  WEFT_ASSIGN(const Members inner, members_of(format->second));
  const auto type = inner.find("type");
  if (type == inner.end()) return format->second.error("lacks the key \"type\"");
  WEFT_ASSIGN(const std::string kind, type->second.string());
  if (kind == "text") return {};
  if (!ask.format.empty())
    return format->second.error("stands beside \"grammar\"; give one of them");
  out.held_by = "response_format";
  const auto named = inner.find("json_schema");
  if (kind == "json_schema" && named == inner.end())
    return format->second.error("lacks the key \"json_schema\"");
  return hold_to_format(type->second, named == inner.end() ? format->second : named->second, out);
}

// Reads the tools and whether the answer must call one. Returns the template's member for the
// tools, or an empty text.
Result<std::string> read_tool_choice(const Members& members, OpenAiRequest& out) {
  const auto list = members.find("tools");
  const auto choice = members.find("tool_choice");
  bool offered = false;
  if (list != members.end()) {
    if (list->second.kind() != json::Kind::array) return list->second.error("must be an array");
    WEFT_OK(list->second.for_each({.count_max = 256}, [&](const json::Value&) -> Result<> {
      offered = true;
      return {};
    }));
  }
  ToolWish wish{.word = offered ? "auto" : "none"};
  if (offered) wish.list = list->second.text();
  if (choice != members.end() && choice->second.kind() == json::Kind::string) {
    WEFT_ASSIGN(wish.word, choice->second.string());
    if (wish.word != "none" && wish.word != "auto" && wish.word != "required")
      return choice->second.error("must be \"none\", \"auto\", \"required\" or a function");
  } else if (choice != members.end()) {
    WEFT_ASSIGN(const Members inner, members_of(choice->second));
    const auto function = inner.find("function");
    if (function == inner.end()) return choice->second.error("lacks the key \"function\"");
    WEFT_ASSIGN(const Members named, members_of(function->second));
    const auto given = named.find("name");
    if (given == named.end()) return function->second.error("lacks the key \"name\"");
    WEFT_ASSIGN(wish.name, given->second.string());
    wish.word = "required";
  }
  WEFT_OK(read_flag(members, "parallel_tool_calls", wish.parallel));
  return take_tools(wish, choice == members.end() ? nullptr : &choice->second, out);
}

Result<OpenAiRequest> read_common(const Members& members, const json::Value& root,
                                  std::uint64_t seed) {
  WEFT_ASSIGN(OpenAiRequest out, read_drawing(members, root, seed));
  WEFT_OK(read_format(members, out));
  return out;
}

// Sets the candidates that workers report for each token. Text that a grammar fixes has
// probabilities only if at least one candidate is asked for.
void ask_for_candidates(OpenAiRequest& request) {
  request.ask.top = request.top;
  if (request.logprobs && !request.ask.format.empty()) request.ask.top = std::max(1u, request.top);
}

// Checks that a call names a function.
Result<> check_call(const json::Value& call) {
  WEFT_ASSIGN(const Members members, members_of(call));
  const auto function = members.find("function");
  if (function == members.end()) return call.error("lacks the key \"function\"");
  WEFT_ASSIGN(const Members named, members_of(function->second));
  const auto name = named.find("name");
  if (name == named.end()) return function->second.error("lacks the key \"name\"");
  return name->second.string({.bytes_max = 256}).transform([](const std::string&) {});
}

// Checks that a message has a role that templates know, and a content.
Result<> check_message(const json::Value& message) {
  WEFT_ASSIGN(const Members members, members_of(message));
  const auto given = members.find("role");
  if (given == members.end()) return message.error("lacks the key \"role\"");
  WEFT_ASSIGN(const std::string role, given->second.string({.bytes_max = 64}));
  if (role != "user" && role != "assistant" && role != "system" && role != "developer" &&
      role != "tool")
    return given->second.error(
        "must be \"system\", \"developer\", \"user\", \"assistant\" or \"tool\"");
  // An assistant's message may have only calls, or be empty.
  if (role != "assistant" && !members.contains("content"))
    return message.error("lacks the key \"content\"");
  return {};
}

// Refuses keys that would change the answer but are not supported.
Result<> refuse_unsupported(const Members& members, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const auto found = members.find(key); found != members.end())
      return found->second.error("is not supported here");
  }
  return {};
}

// The calls of earlier answers for the template: their arguments are an object instead of its text.
Result<std::string> calls_of(const json::Value& list) {
  std::string out;
  WEFT_OK(list.for_each({.count_max = 256}, [&](const json::Value& call) -> Result<> {
    WEFT_ASSIGN(const auto members, call.members({.count_max = 16}));
    WEFT_OK(check_call(call));
    std::string text;
    for (const auto& [key, value] : members) {
      text += (text.empty() ? "" : ",") + json::quote(key) + ":";
      if (key != "function") {
        text += value.text();
        continue;
      }
      WEFT_ASSIGN(const auto parts, value.members({.count_max = 16}));
      std::string function;
      for (const auto& [name, part] : parts) {
        function += (function.empty() ? "" : ",") + json::quote(name) + ":";
        if (name != "arguments" || part.kind() != json::Kind::string) {
          function += part.text();
          continue;
        }
        WEFT_ASSIGN(const std::string arguments, arguments_of(part));
        function += arguments;
      }
      text += "{" + function + "}";
    }
    out += (out.empty() ? "{" : ",{") + text + "}";
    return {};
  }));
  return "[" + out + "]";
}

Result<std::string> messages_of(const json::Value& list, std::uint64_t& conversation) {
  std::string out;
  std::size_t count = 0;
  WEFT_OK(list.for_each({.count_max = 4096}, [&](const json::Value& message) -> Result<> {
    WEFT_ASSIGN(const auto members, message.members({.count_max = 64}));
    WEFT_OK(check_message(message));
    std::string text;
    for (const auto& [key, value] : members) {
      text += (text.empty() ? "" : ",") + json::quote(key) + ":";
      if (key == "content") {
        WEFT_ASSIGN(const std::string content, content_of(value));
        text += json::quote(content);
      } else if (key == "tool_calls" && value.kind() == json::Kind::array) {
        WEFT_ASSIGN(const std::string calls, calls_of(value));
        text += calls;
      } else {
        if (key == "role") {
          WEFT_ASSIGN(const std::string role, value.string({.bytes_max = 64}));
          // Templates know only the older word "system".
          text += role == "developer" ? std::string("\"system\"") : json::quote(role);
        } else {
          text += value.text();
        }
      }
    }
    out += (out.empty() ? "{" : ",{") + text + "}";
    // A conversation is recognised by its first two messages, which do not change from turn to
    // turn.
    if (count++ < 2) mix_conversation(conversation, text);
    return {};
  }));
  if (count == 0) return list.error("must not be empty");
  return out;
}

constexpr std::string_view turn = R"({"add_generation_prompt":true,)";
constexpr std::string_view no_turn = R"({"add_generation_prompt":false,)";

}  // namespace

std::size_t OpenAiRequest::prompt_count() const {
  return embedding && !embedding->tokens.empty() ? embedding->tokens.size() : prompts.size();
}

std::string chat_prompt(std::string_view messages, std::string_view tools) {
  return weft::format(R"({}"messages":[{}]{}}})", turn, messages, tools);
}

std::string chat_prompt_without_turn(std::string prompt) {
  prompt.replace(0, turn.size(), no_turn);
  return prompt;
}

Result<AnswerTrust> read_answer_trust(std::string_view word) {
  if (word == "anyone") return AnswerTrust::all;
  if (word == "established") return AnswerTrust::established;
  if (word == "verified") return AnswerTrust::verified;
  return fail(
      ErrorCode::invalid_argument,
      "The header x-weft-trust is \"{}\"; it must be \"anyone\", \"established\" or \"verified\".",
      word.substr(0, 64));
}

Result<OpenAiRequest> read_chat_request(std::string_view body, std::uint64_t seed) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = body_bytes_max}));
  WEFT_ASSIGN(const Members members, members_of(root));
  WEFT_ASSIGN(OpenAiRequest out, read_common(members, root, seed));
  WEFT_OK(
      refuse_unsupported(members, {"functions", "function_call", "audio", "web_search_options"}));
  if (const auto modalities = members.find("modalities"); modalities != members.end()) {
    WEFT_OK(modalities->second.for_each({.count_max = 8}, [](const json::Value& one) -> Result<> {
      WEFT_ASSIGN(const std::string word, one.string({.bytes_max = 64}));
      if (word != "text") return one.error("is not \"text\"; others are not supported here");
      return {};
    }));
  }
  const auto messages = members.find("messages");
  if (messages == members.end()) return root.error("lacks the key \"messages\"");
  WEFT_ASSIGN(const std::string list, messages_of(messages->second, out.conversation));
  WEFT_ASSIGN(const std::string tools, read_tool_choice(members, out));
  std::string prompt = chat_prompt(list, tools);
  if (prompt.size() > protocol::serving::text_bytes_max)
    return messages->second.error("has more than {} bytes, which no model here reads",
                                  protocol::serving::text_bytes_max);
  out.prompts.push_back(std::move(prompt));
  WEFT_OK(check_frame(out, messages->second));
  out.ask.tokens_max = tokens_default;
  WEFT_OK(read_count(members, "max_tokens", 1, tokens_default, out.ask.tokens_max));
  WEFT_OK(read_count(members, "max_completion_tokens", 1, tokens_default, out.ask.tokens_max));
  out.names_bound = members.contains("max_tokens") || members.contains("max_completion_tokens");
  WEFT_OK(read_flag(members, "logprobs", out.logprobs));
  if (const auto top = members.find("top_logprobs"); top != members.end() && !out.logprobs)
    return top->second.error("needs \"logprobs\": true");
  WEFT_OK(read_count(members, "top_logprobs", 0, top_max, out.top));
  ask_for_candidates(out);
  return out;
}

Result<OpenAiRequest> read_completion_request(std::string_view body, std::uint64_t seed) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = body_bytes_max}));
  WEFT_ASSIGN(const Members members, members_of(root));
  WEFT_ASSIGN(OpenAiRequest out, read_common(members, root, seed));
  out.chat = false;
  const auto prompt = members.find("prompt");
  if (prompt == members.end()) return root.error("lacks the key \"prompt\"");
  const auto add = [&](const json::Value& value) -> Result<> {
    WEFT_ASSIGN(out.prompts.emplace_back(),
                value.string({.bytes_max = protocol::serving::text_bytes_max}));
    return {};
  };
  if (prompt->second.kind() == json::Kind::string) {
    WEFT_OK(add(prompt->second));
  } else {
    WEFT_OK(prompt->second.for_each({.count_max = choices_max}, add));
  }
  if (out.prompts.empty()) return prompt->second.error("must not be empty");
  WEFT_OK(check_frame(out, prompt->second));
  if (out.prompts.size() * out.choices > choices_max)
    return root.error("asks for {} answers; at most {} are given at once",
                      out.prompts.size() * out.choices, choices_max);
  bool echo = false;
  WEFT_OK(read_flag(members, "echo", echo));
  if (echo) return members.at("echo").error("is not supported here");
  WEFT_OK(refuse_unsupported(members, {"suffix"}));
  std::uint32_t best_of = out.choices;
  WEFT_OK(read_count(members, "best_of", 1, choices_max, best_of));
  if (best_of != out.choices)
    return members.at("best_of").error("must be as many as \"n\", {}", out.choices);
  out.ask.tokens_max = completion_tokens_default;
  out.names_bound = true;
  WEFT_OK(read_count(members, "max_tokens", 1, tokens_default, out.ask.tokens_max));
  out.logprobs = members.contains("logprobs");
  WEFT_OK(read_count(members, "logprobs", 0, top_max, out.top));
  ask_for_candidates(out);
  out.conversation = std::hash<std::string>()(out.prompts.front().substr(0, 256));
  return out;
}

namespace {

// The key that an error message of the reader begins with, or the key that it reports as missing.
std::string param_of(const std::string& message) {
  constexpr std::string_view lacks = "lacks the key \"";
  const std::size_t end = message.find(": ");
  const std::size_t lacking = message.find(lacks);
  const std::string_view path = std::string_view(message).substr(0, end);
  const bool is_path = end != std::string::npos && !path.empty() && !path.contains(' ');
  std::string out(is_path ? path : "");
  if (lacking != std::string::npos) {
    const std::size_t begin = lacking + lacks.size();
    out += (out.empty() ? "" : ".") + message.substr(begin, message.find('"', begin) - begin);
  }
  return out;
}

}  // namespace

std::string openai_error_json(const Error& error, std::string_view param, std::string_view trust) {
  std::string_view type = "server_error", code = to_string(error.code);
  switch (error.code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported:
    case ErrorCode::permission_denied:
      type = "invalid_request_error";
      break;
    case ErrorCode::not_found:
      type = "invalid_request_error";
      code = param.empty() ? "model_not_found" : "not_found";
      break;
    case ErrorCode::unauthenticated:
      type = "invalid_request_error";
      code = "invalid_api_key";
      break;
    case ErrorCode::insufficient_funds:
      type = "insufficient_quota";
      code = "insufficient_quota";
      break;
    case ErrorCode::resource_exhausted:
      type = "rate_limit_error";
      code = "rate_limit_exceeded";
      break;
    default:
      break;
  }
  // A request that exceeds the context has a code of its own, because trying again does not help.
  if (error.code == ErrorCode::resource_exhausted && error.message.contains("context")) {
    type = "invalid_request_error";
    code = "context_length_exceeded";
  }
  std::string named(param);
  if (named.empty() && error.code == ErrorCode::not_found) named = "model";
  if (named.empty() && error.code == ErrorCode::invalid_argument) named = param_of(error.message);
  return weft::format(R"({{"error":{{"message":{},"type":"{}","param":{},"code":"{}"}}{}}})",
                      json::quote(error.message), type, named.empty() ? "null" : json::quote(named),
                      code,
                      trust.empty() ? "" : weft::format(R"(,"weft":{{"trust":"{}"}})", trust));
}

net::Reply openai_error(const Error& error, std::string_view param, std::string_view trust) {
  int status = net::http_status(error.code);
  const bool too_long =
      error.code == ErrorCode::resource_exhausted && error.message.contains("context");
  if (too_long || error.code == ErrorCode::permission_denied ||
      error.code == ErrorCode::unsupported)
    status = 400;
  if (error.code == ErrorCode::insufficient_funds ||
      (error.code == ErrorCode::resource_exhausted && !too_long))
    status = 429;
  net::Reply reply = net::json_reply(status, openai_error_json(error, param, trust));
  if (!trust.empty()) reply.headers["x-weft-trust"] = trust;
  if (status == 429) reply.headers["retry-after"] = "1";
  if (status == 503) reply.headers["retry-after"] = "2";
  return reply;
}

}  // namespace weft::coordinator
