#include "engine/chat/chat_template.h"

#include <tuple>

#include "engine/chat/known_templates.h"
#include "engine/jinja/read_json.h"

namespace weft::chat {
namespace {

using tokenizer::Vocabulary;

std::string text_of(const Vocabulary& vocabulary, std::optional<tokenizer::Token> token) {
  return token ? std::string(vocabulary.text(*token)) : std::string();
}

std::optional<std::pair<ChatTemplate::Origin, std::string_view>> detect(
    const Vocabulary& vocabulary) {
  const auto has = [&](std::string_view text) { return vocabulary.find(text).has_value(); };
  if (has("<|start_header_id|>") && has("<|eot_id|>"))
    return std::pair(ChatTemplate::Origin::llama3, llama3_template);
  if (has("<|im_start|>") && has("<|im_end|>"))
    return std::pair(ChatTemplate::Origin::chatml, chatml_template);
  if (vocabulary.model() == Vocabulary::Model::sentence_piece)
    return std::pair(ChatTemplate::Origin::llama2, llama2_template);
  return std::nullopt;
}

}  // namespace

std::string_view to_string(ChatTemplate::Origin origin) {
  switch (origin) {
    case ChatTemplate::Origin::given:
      return "given";
    case ChatTemplate::Origin::llama3:
      return "llama3";
    case ChatTemplate::Origin::chatml:
      return "chatml";
    case ChatTemplate::Origin::llama2:
      return "llama2";
  }
  return "unknown";
}

Result<ChatTemplate> ChatTemplate::parse(std::string_view source) {
  WEFT_ASSIGN(jinja::Template made, jinja::Template::parse(source));
  ChatTemplate chat(std::move(made), Origin::given);
  chat.source_ = source;
  return chat;
}

Result<ChatTemplate> ChatTemplate::parse(std::string_view source, const Vocabulary& vocabulary) {
  WEFT_ASSIGN(ChatTemplate chat, parse(source));
  chat.take_texts(vocabulary);
  return chat;
}

void ChatTemplate::take_texts(const Vocabulary& vocabulary) {
  begin_text_ = text_of(vocabulary, vocabulary.begin());
  end_text_ = text_of(vocabulary, vocabulary.end());
}

Result<ChatTemplate> ChatTemplate::create(const gguf::Metadata& metadata,
                                          const Vocabulary& vocabulary) {
  constexpr std::string_view main_key = "tokenizer.chat_template",
                             tools_key = "tokenizer.chat_template.tool_use";
  Origin origin = Origin::given;
  std::string_view source;
  if (metadata.has(main_key)) {
    WEFT_ASSIGN(source, metadata.string(main_key));
  } else if (const auto known = detect(vocabulary)) {
    std::tie(origin, source) = *known;
  } else {
    return fail(
        ErrorCode::not_found,
        "The file has no chat template, and its tokens fit none of Llama 3, ChatML and Llama 2.");
  }
  WEFT_ASSIGN(jinja::Template main, jinja::Template::parse(source));
  ChatTemplate chat(std::move(main), origin);
  chat.source_ = source;
  if (metadata.has(tools_key)) {
    WEFT_ASSIGN(const std::string_view tools_source, metadata.string(tools_key));
    WEFT_ASSIGN(chat.with_tools_, jinja::Template::parse(tools_source));
    chat.source_ = tools_source;
  }
  chat.take_texts(vocabulary);
  return chat;
}

Result<std::string> ChatTemplate::render(std::string_view input,
                                         const jinja::RenderOptions& options) const {
  jinja::Heap heap;
  WEFT_ASSIGN(const jinja::Value given, jinja::read_json(heap, input));
  if (!given.is(jinja::Kind::dict))
    return fail(ErrorCode::invalid_argument, "The input is not a JSON object.");
  const jinja::Value* messages = given.as_dict().find("messages");
  if (messages == nullptr || !messages->is(jinja::Kind::list))
    return fail(ErrorCode::invalid_argument, "The input has no list of 'messages'.");

  std::vector<std::pair<jinja::Value, jinja::Value>> variables = {
      {heap.string("tools"), jinja::Value::none()},
      {heap.string("documents"), jinja::Value::none()},
      {heap.string("add_generation_prompt"), jinja::Value::boolean(true)},
      {heap.string("bos_token"), heap.string(begin_text_)},
      {heap.string("eos_token"), heap.string(end_text_)}};
  variables.insert(variables.end(), given.as_dict().items.begin(), given.as_dict().items.end());
  WEFT_ASSIGN(const jinja::Value all, heap.dict(std::move(variables)));
  const jinja::Value* tools = all.as_dict().find("tools");
  const bool has_tools = tools != nullptr && jinja::is_true(*tools);
  return (has_tools && with_tools_ ? *with_tools_ : main_).render(all, options);
}

Result<std::vector<tokenizer::Token>> encode_prompt(const tokenizer::Tokenizer& tokenizer,
                                                    std::string_view text) {
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  const bool begins = vocabulary.begin() && !vocabulary.text(*vocabulary.begin()).empty() &&
                      text.starts_with(vocabulary.text(*vocabulary.begin()));
  return tokenizer.encode(text, {.add_special = !begins, .parse_special = true});
}

}  // namespace weft::chat
