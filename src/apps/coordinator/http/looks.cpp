#include "apps/coordinator/http/looks.h"

#include "apps/coordinator/http/openai_reading.h"
#include "common/base/format.h"
#include "common/json/quote.h"

namespace weft::coordinator {

namespace {

Result<OpenAiRequest> begin_look(const reading::Members& members, const json::Value& root,
                                 TextLook::Kind kind) {
  OpenAiRequest out;
  const auto model = members.find("model");
  if (model == members.end()) return root.error("lacks the key \"model\"");
  WEFT_ASSIGN(out.model, model->second.string({.bytes_max = 256}));
  out.chat = false;
  out.names_bound = true;
  out.look.kind = kind;
  out.prompts.emplace_back();
  return out;
}

}  // namespace

Result<OpenAiRequest> read_tokenize_request(std::string_view body) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = reading::body_bytes_max}));
  WEFT_ASSIGN(const reading::Members members, reading::members_of(root));
  WEFT_ASSIGN(OpenAiRequest out, begin_look(members, root, TextLook::Kind::tokens));
  const auto content = members.find("content");
  if (content == members.end()) return root.error("lacks the key \"content\"");
  WEFT_ASSIGN(out.prompts.front(), content->second.string({.bytes_max = look_bytes_max}));
  out.look.parse_special = true;
  WEFT_OK(reading::read_flag(members, "add_special", out.look.add_special));
  WEFT_OK(reading::read_flag(members, "parse_special", out.look.parse_special));
  bool pieces = false;
  WEFT_OK(reading::read_flag(members, "with_pieces", pieces));
  if (pieces) return members.at("with_pieces").error("is not supported here");
  WEFT_OK(reading::check_frame(out, content->second));
  out.held_by = "content";
  return out;
}

Result<OpenAiRequest> read_detokenize_request(std::string_view body) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = reading::body_bytes_max}));
  WEFT_ASSIGN(const reading::Members members, reading::members_of(root));
  WEFT_ASSIGN(OpenAiRequest out, begin_look(members, root, TextLook::Kind::text));
  const auto tokens = members.find("tokens");
  if (tokens == members.end()) return root.error("lacks the key \"tokens\"");
  // Larger numbers could make the request longer than a frame.
  constexpr std::int64_t token_max = (1 << 24) - 1;
  constexpr std::size_t count_max = std::size_t{64} << 10;
  WEFT_OK(
      tokens->second.for_each({.count_max = count_max}, [&](const json::Value& one) -> Result<> {
        WEFT_ASSIGN(const auto token, one.integer_as<std::int32_t>({.min = 0, .max = token_max}));
        out.look.tokens.push_back(token);
        return {};
      }));
  out.held_by = "tokens";
  return out;
}

Result<OpenAiRequest> read_template_request(std::string_view body) {
  WEFT_ASSIGN(OpenAiRequest out, read_chat_request(body, 0));
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = reading::body_bytes_max}));
  WEFT_ASSIGN(const reading::Members members, reading::members_of(root));
  bool generation = true;
  WEFT_OK(reading::read_flag(members, "add_generation_prompt", generation));
  if (!generation) out.prompts.front() = chat_prompt_without_turn(out.prompts.front());
  // The prompt is shown without the answer's constraints, because they do not change it.
  OpenAiRequest look;
  look.model = std::move(out.model);
  look.chat = true;
  look.names_bound = true;
  look.look.kind = TextLook::Kind::prompt;
  look.prompts = std::move(out.prompts);
  look.held_by = "messages";
  return look;
}

std::string LookText::document() {
  if (kind_ == TextLook::Kind::text)
    return weft::format(R"({{"content":{}}})", json::quote(told_.text));
  if (kind_ == TextLook::Kind::prompt)
    return weft::format(R"({{"prompt":{}}})", json::quote(told_.text));
  std::string list;
  for (const std::int32_t token : told_.tokens)
    list += (list.empty() ? "" : ",") + std::to_string(token);
  return R"({"tokens":[)" + list + "]}";
}

}  // namespace weft::coordinator
