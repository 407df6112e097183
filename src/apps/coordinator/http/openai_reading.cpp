#include "apps/coordinator/http/openai_reading.h"

#include <algorithm>
#include <charconv>

#include "common/json/quote.h"

namespace weft::coordinator::reading {

namespace {

constexpr std::uint32_t choices_max = 8;

}  // namespace

Result<Members> members_of(const json::Value& value) {
  WEFT_ASSIGN(const auto list, value.members({.count_max = 256}));
  Members out;
  for (const auto& [key, member] : list) {
    if (member.kind() != json::Kind::null) out.emplace(key, member);
  }
  return out;
}

Result<> read_number(const Members& members, const std::string& key, double min, double max,
                     double& out) {
  const auto found = members.find(key);
  if (found == members.end()) return {};
  WEFT_ASSIGN(out, found->second.number());
  if (!(out >= min && out <= max)) return found->second.error("must be from {} to {}", min, max);
  return {};
}

Result<> read_count(const Members& members, const std::string& key, std::uint32_t min,
                    std::uint32_t max, std::uint32_t& out) {
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

Result<> hold_to_format(const json::Value& type, const json::Value& schema_in, OpenAiRequest& out) {
  WEFT_ASSIGN(const std::string kind, type.string());
  if (kind == "text") return {};
  protocol::serving::Ask& ask = out.ask;
  if (!ask.format.empty())
    return schema_in.error("stands beside \"{}\"; give one of them", out.held_by);
  if (kind == "json_object") {
    ask.format = "json";
    return {};
  }
  if (kind != "json_schema")
    return type.error("must be \"text\", \"json_object\" or \"json_schema\"");
  WEFT_ASSIGN(const Members schema_of, members_of(schema_in));
  const auto schema = schema_of.find("schema");
  if (schema == schema_of.end()) return schema_in.error("lacks the key \"schema\"");
  if (schema->second.text().size() > protocol::serving::rule_bytes_max)
    return schema->second.error("has more than {} bytes", protocol::serving::rule_bytes_max);
  ask.format = "schema";
  ask.rule = schema->second.text();
  return {};
}

Result<std::string> take_tools(const ToolWish& wish, const json::Value* choice,
                               OpenAiRequest& out) {
  if (wish.list.empty()) {
    if (wish.word == "required" && choice != nullptr)
      return choice->error("needs tools in \"tools\"");
    return std::string();
  }
  auto tools = tools::read_tools(wish.list);
  if (!tools) {
    // The error names a place in the list of tools, and a line of the list, not of the request. So
    // the place gets the prefix "tools", and the line is left out.
    const std::string& message = tools.error().message;
    return fail(ErrorCode::invalid_argument, "tools{}{}", message.starts_with('[') ? "" : ": ",
                message.substr(0, message.rfind(" (line")));
  }
  if (choice != nullptr && !wish.name.empty() && !tools->contains(wish.name))
    return choice->error("names {}, which is not among the tools", json::quote(wish.name));
  if (wish.word == "none") return std::string();
  if (wish.word == "required") {
    if (choice != nullptr && !out.ask.format.empty())
      return choice->error("demands a call beside \"{}\"; give one of them", out.held_by);
    out.ask.format = wish.parallel && wish.name.empty() ? "tools" : "tool";
    out.ask.rule = wish.name;
    out.held_by = "tool_choice";
  }
  out.shows_calls = true;
  out.tools = std::move(*tools);
  return ",\"tools\":" + wish.list;
}

Result<> read_terms(const Members& members, OpenAiRequest& out) {
  if (const auto price = members.find("max_price"); price != members.end()) {
    // The highest price that a model's card may have.
    constexpr std::uint64_t price_max = 1'000'000'000'000;
    WEFT_ASSIGN(const std::uint64_t value, price->second.unsigned_integer(price_max));
    out.price_max = static_cast<MicroCredits>(value);
  }
  if (members.contains("deadline_ms")) {
    constexpr std::uint32_t day = 86'400'000;
    std::uint32_t milliseconds = 0;
    WEFT_OK(read_count(members, "deadline_ms", 1, day, milliseconds));
    out.patience = std::chrono::milliseconds(milliseconds);
  }
  if (const auto fallback = members.find("fallback"); fallback != members.end()) {
    WEFT_ASSIGN(const std::string word, fallback->second.string({.bytes_max = 64}));
    if (word != "allow" && word != "never")
      return fallback->second.error("must be \"allow\" or \"never\"");
    out.allows_fallback = word == "allow";
  }
  return {};
}

Result<OpenAiRequest> read_drawing(const Members& members, const json::Value& root,
                                   std::uint64_t seed) {
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
  WEFT_OK(read_terms(members, out));
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
    WEFT_ASSIGN(const auto entries,
                bias->second.members({.count_max = protocol::serving::biases_max}));
    for (const auto& [token, value] : entries) {
      protocol::serving::Bias& one = ask.bias.emplace_back();
      const auto read = std::from_chars(token.data(), token.data() + token.size(), one.token);
      if (read.ec != std::errc() || read.ptr != token.data() + token.size() || one.token < 0)
        return bias->second.error("has the key {}, which is not a token's number",
                                  json::quote(token));
      WEFT_ASSIGN(one.bias, value.number());
      if (!(one.bias >= -100 && one.bias <= 100)) return value.error("must be from -100 to 100");
    }
  }
  return out;
}

Result<std::string> content_of(const json::Value& content) {
  constexpr std::size_t bytes_max = protocol::serving::text_bytes_max;
  if (content.kind() == json::Kind::null) return std::string();
  if (content.kind() == json::Kind::string) return content.string({.bytes_max = bytes_max});
  std::string out;
  WEFT_OK(content.for_each({.count_max = 256}, [&](const json::Value& part) -> Result<> {
    WEFT_ASSIGN(const Members members, members_of(part));
    const auto type = members.find("type");
    const auto text = members.find("text");
    if (type == members.end() || text == members.end())
      return part.error("is not a part of type \"text\"; others are not supported here");
    WEFT_ASSIGN(const std::string more, text->second.string({.bytes_max = bytes_max}));
    out += more;
    return {};
  }));
  return out;
}

Result<std::string> arguments_of(const json::Value& text) {
  WEFT_ASSIGN(std::string arguments, text.string({.bytes_max = protocol::serving::text_bytes_max}));
  if (arguments.empty()) arguments = "{}";
  const auto object = json::parse(arguments, {.depth_max = 32});
  if (!object || object->kind() != json::Kind::object)
    return text.error("must be the text of a JSON object");
  return arguments;
}

void mix_conversation(std::uint64_t& conversation, std::string_view text) {
  conversation = conversation * 1099511628211ULL ^ std::hash<std::string_view>()(text);
}

Result<> check_frame(const OpenAiRequest& request, const json::Value& where) {
  const std::size_t rule = json::quote(request.ask.rule).size();
  for (const std::string& prompt : request.prompts) {
    if (json::quote(prompt).size() + rule > frame_text_max)
      return where.error("has, with what the answer is held to, more than {} bytes as JSON",
                         frame_text_max);
  }
  return {};
}

}  // namespace weft::coordinator::reading
