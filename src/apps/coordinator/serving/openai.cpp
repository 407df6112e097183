#include "apps/coordinator/serving/openai.h"

#include <algorithm>
#include <format>
#include <map>

#include <glaze/glaze.hpp>

#include "common/json/json.h"

namespace weft::coordinator {

namespace {

constexpr std::uint32_t tokens_default = 1u << 20;  // As many as the context takes.
constexpr std::uint32_t completion_tokens_default = 16;
constexpr std::uint32_t top_max = 20;
constexpr std::uint32_t choices_max = 8;

struct Writing : glz::opts {
  bool escape_control_characters = true;
};

using Members = std::map<std::string, json::Value>;

// null stands for "not given".
Result<Members> members_of(const json::Value& value) {
  WEFT_ASSIGN(const auto list, value.members({.count_max = 256}));
  Members out;
  for (const auto& [key, member] : list) {
    if (member.kind() != json::Kind::null) out.emplace(key, member);
  }
  return out;
}

Result<> read_number(const Members& members, const std::string& key, double min, double max, double& out) {
  const auto found = members.find(key);
  if (found == members.end()) return {};
  WEFT_ASSIGN(out, found->second.number());
  if (!(out >= min && out <= max)) return found->second.error("must be from {} to {}", min, max);
  return {};
}

Result<> read_count(const Members& members, const std::string& key, std::uint32_t min, std::uint32_t max, std::uint32_t& out) {
  const auto found = members.find(key);
  if (found == members.end()) return {};
  WEFT_ASSIGN(const std::int64_t value, found->second.integer());
  if (value < min || value > max) return found->second.error("must be from {} to {}", min, max);
  out = static_cast<std::uint32_t>(value);
  return {};
}

Result<> read_flag(const Members& members, const std::string& key, bool& out) {
  const auto found = members.find(key);
  if (found == members.end()) return {};
  WEFT_ASSIGN(out, found->second.boolean());
  return {};
}

// What both kinds have.
Result<OpenAiRequest> read_common(const Members& members, const json::Value& root, std::uint64_t seed) {
  OpenAiRequest out;
  const auto model = members.find("model");
  if (model == members.end()) return root.error("lacks the key \"model\"");
  WEFT_ASSIGN(out.model, model->second.string({.bytes_max = 256}));
  WEFT_OK(read_flag(members, "stream", out.stream));
  if (const auto options = members.find("stream_options"); options != members.end()) {
    WEFT_ASSIGN(const Members inner, members_of(options->second));
    WEFT_OK(read_flag(inner, "include_usage", out.include_usage));
  }
  protocol::serving::Ask& ask = out.ask;
  ask.temperature = 1;
  WEFT_OK(read_number(members, "temperature", 0, 2, ask.temperature));
  WEFT_OK(read_number(members, "top_p", 0, 1, ask.top_p));
  WEFT_OK(read_number(members, "min_p", 0, 1, ask.min_p));
  WEFT_OK(read_number(members, "presence_penalty", -2, 2, ask.presence_penalty));
  WEFT_OK(read_number(members, "frequency_penalty", -2, 2, ask.frequency_penalty));
  WEFT_OK(read_number(members, "repetition_penalty", 0.01, 10, ask.repetition_penalty));
  WEFT_OK(read_count(members, "top_k", 0, 1u << 20, ask.top_k));
  WEFT_OK(read_count(members, "n", 1, choices_max, out.choices));
  ask.seed = seed;
  if (const auto given = members.find("seed"); given != members.end()) {
    WEFT_ASSIGN(const std::int64_t value, given->second.integer());
    ask.seed = static_cast<std::uint64_t>(value);
  }
  if (const auto stop = members.find("stop"); stop != members.end()) {
    const auto add = [&](const json::Value& value) -> Result<> {
      WEFT_ASSIGN(ask.stop.emplace_back(), value.string({.bytes_max = 1024}));
      return {};
    };
    if (stop->second.kind() == json::Kind::string) {
      WEFT_OK(add(stop->second));
    } else {
      WEFT_OK(stop->second.for_each({.count_max = 16}, add));
    }
  }
  if (const auto bias = members.find("logit_bias"); bias != members.end()) {
    WEFT_ASSIGN(const auto entries, bias->second.members());
    if (!entries.empty()) return bias->second.error("is not supported here");
  }
  return out;
}

// A message's content as one text: parts of type "text" one behind the other.
Result<std::string> content_of(const json::Value& content) {
  constexpr std::size_t bytes_max = protocol::serving::text_bytes_max;
  if (content.kind() == json::Kind::null) return std::string();
  if (content.kind() == json::Kind::string) return content.string({.bytes_max = bytes_max});
  std::string out;
  WEFT_OK(content.for_each({.count_max = 256}, [&](const json::Value& part) -> Result<> {
    WEFT_ASSIGN(const Members members, members_of(part));
    const auto type = members.find("type");
    const auto text = members.find("text");
    if (type == members.end() || text == members.end()) return part.error("is no part of type \"text\"; others are not supported here");
    WEFT_ASSIGN(const std::string more, text->second.string({.bytes_max = bytes_max}));
    out += more;
    return {};
  }));
  return out;
}

Result<std::string> messages_of(const json::Value& list, std::uint64_t& conversation) {
  std::string out;
  std::size_t count = 0;
  WEFT_OK(list.for_each({.count_max = 4096}, [&](const json::Value& message) -> Result<> {
    WEFT_ASSIGN(const auto members, message.members({.count_max = 64}));
    std::string text;
    bool has_role = false;
    for (const auto& [key, value] : members) {
      text += (text.empty() ? "" : ",") + json_string(key) + ":";
      if (key == "content") {
        WEFT_ASSIGN(const std::string content, content_of(value));
        text += json_string(content);
      } else {
        if (key == "role") {
          WEFT_ASSIGN(const std::string role, value.string({.bytes_max = 64}));
          has_role = true;
          // Templates know the older word.
          text += role == "developer" ? std::string("\"system\"") : json_string(role);
        } else {
          text += value.text();
        }
      }
    }
    if (!has_role) return message.error("lacks the key \"role\"");
    out += (out.empty() ? "{" : ",{") + text + "}";
    // The first two are the same in every turn.
    if (count++ < 2) conversation = conversation * 1099511628211ULL ^ std::hash<std::string>()(text);
    return {};
  }));
  if (count == 0) return list.error("must not be empty");
  return "[" + out + "]";
}

}  // namespace

std::string json_string(std::string_view text) { return glz::write<Writing{}>(text).value_or("\"\""); }

Result<OpenAiRequest> read_chat_request(std::string_view body, std::uint64_t seed) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = std::size_t{4} << 20}));
  WEFT_ASSIGN(const Members members, members_of(root));
  WEFT_ASSIGN(OpenAiRequest out, read_common(members, root, seed));
  const auto messages = members.find("messages");
  if (messages == members.end()) return root.error("lacks the key \"messages\"");
  WEFT_ASSIGN(const std::string list, messages_of(messages->second, out.conversation));
  std::string prompt = R"({"add_generation_prompt":true,"messages":)" + list;
  if (const auto tools = members.find("tools"); tools != members.end()) {
    if (tools->second.kind() != json::Kind::array) return tools->second.error("must be an array");
    prompt += ",\"tools\":" + std::string(tools->second.text());
  }
  prompt += "}";
  if (prompt.size() > protocol::serving::text_bytes_max)
    return messages->second.error("has more than {} bytes, which no model here reads", protocol::serving::text_bytes_max);
  out.prompts.push_back(std::move(prompt));
  if (const auto format = members.find("response_format"); format != members.end()) {
    WEFT_ASSIGN(const Members inner, members_of(format->second));
    const auto type = inner.find("type");
    if (type == inner.end() || type->second.text() != "\"text\"") return format->second.error("is not supported here, only {{\"type\": \"text\"}}");
  }
  out.ask.chat = true;
  out.ask.tokens_max = tokens_default;
  WEFT_OK(read_count(members, "max_tokens", 1, tokens_default, out.ask.tokens_max));
  WEFT_OK(read_count(members, "max_completion_tokens", 1, tokens_default, out.ask.tokens_max));
  out.names_bound = members.contains("max_tokens") || members.contains("max_completion_tokens");
  WEFT_OK(read_flag(members, "logprobs", out.logprobs));
  if (const auto top = members.find("top_logprobs"); top != members.end() && !out.logprobs) return top->second.error("needs \"logprobs\": true");
  WEFT_OK(read_count(members, "top_logprobs", 0, top_max, out.ask.top));
  return out;
}

Result<OpenAiRequest> read_completion_request(std::string_view body, std::uint64_t seed) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = std::size_t{4} << 20}));
  WEFT_ASSIGN(const Members members, members_of(root));
  WEFT_ASSIGN(OpenAiRequest out, read_common(members, root, seed));
  out.chat = false;
  out.ask.chat = false;
  const auto prompt = members.find("prompt");
  if (prompt == members.end()) return root.error("lacks the key \"prompt\"");
  const auto add = [&](const json::Value& value) -> Result<> {
    WEFT_ASSIGN(out.prompts.emplace_back(), value.string({.bytes_max = protocol::serving::text_bytes_max}));
    return {};
  };
  if (prompt->second.kind() == json::Kind::string) {
    WEFT_OK(add(prompt->second));
  } else {
    WEFT_OK(prompt->second.for_each({.count_max = choices_max}, add));
  }
  if (out.prompts.empty()) return prompt->second.error("must not be empty");
  if (out.prompts.size() * out.choices > choices_max)
    return root.error("asks for {} answers; at most {} are given at once", out.prompts.size() * out.choices, choices_max);
  bool echo = false;
  WEFT_OK(read_flag(members, "echo", echo));
  if (echo) return members.at("echo").error("is not supported here");
  out.ask.tokens_max = completion_tokens_default;
  out.names_bound = true;
  WEFT_OK(read_count(members, "max_tokens", 1, tokens_default, out.ask.tokens_max));
  out.logprobs = members.contains("logprobs");
  WEFT_OK(read_count(members, "logprobs", 0, top_max, out.ask.top));
  out.conversation = std::hash<std::string>()(out.prompts.front().substr(0, 256));
  return out;
}

std::string openai_error_json(const Error& error) {
  std::string_view type = "server_error", code = to_string(error.code);
  switch (error.code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported:
    case ErrorCode::permission_denied:
      type = "invalid_request_error";
      break;
    case ErrorCode::not_found:
      type = "invalid_request_error";
      code = "model_not_found";
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
  // The one bound that is about the request and not about the moment.
  if (error.code == ErrorCode::resource_exhausted && error.message.contains("context")) {
    type = "invalid_request_error";
    code = "context_length_exceeded";
  }
  return std::format(R"({{"error":{{"message":{},"type":"{}","param":null,"code":"{}"}}}})", json_string(error.message), type, code);
}

net::Reply openai_error(const Error& error) {
  int status = net::http_status(error.code);
  const bool too_long = error.code == ErrorCode::resource_exhausted && error.message.contains("context");
  if (too_long || error.code == ErrorCode::permission_denied || error.code == ErrorCode::unsupported) status = 400;
  if (error.code == ErrorCode::insufficient_funds || (error.code == ErrorCode::resource_exhausted && !too_long)) status = 429;
  net::Reply reply = net::json_reply(status, openai_error_json(error));
  if (status == 429) reply.headers["retry-after"] = "1";
  if (status == 503) reply.headers["retry-after"] = "2";
  return reply;
}

}  // namespace weft::coordinator
