#include "engine/chat/model_text.h"

#include <algorithm>
#include <utility>

#include "common/tools/answer_parser.h"
#include "engine/chat/call_grammar.h"
#include "engine/schema/schema.h"

namespace weft::chat {

Result<std::unique_ptr<ModelText>> ModelText::create(const gguf::Metadata& metadata) {
  std::unique_ptr<ModelText> out(new ModelText);
  WEFT_ASSIGN(out->tokenizer_, tokenizer::Tokenizer::create(metadata));
  out->grammars_ = std::make_unique<grammar::Grammars>(*out->tokenizer_);
  if (auto chat = ChatTemplate::create(metadata, out->tokenizer_->vocabulary()))
    out->chat_ = std::move(*chat);
  return out;
}

Result<std::string> ModelText::render(std::string_view input, std::int64_t now) const {
  if (!chat_)
    return fail(ErrorCode::unsupported, "The model has no chat template; ask /v1/completions.");
  return chat_->render(
      input, {.now = now == 0 ? jinja::WallTime::local_now() : jinja::WallTime::of_unix(now)});
}

Result<std::vector<tokenizer::Token>> ModelText::prompt(const Prompt& prompt) const {
  if (!prompt.chat)
    return tokenizer_->encode(prompt.text, {.add_special = true, .parse_special = true});
  WEFT_ASSIGN(const std::string rendered, render(prompt.text, prompt.now));
  return encode_prompt(*tokenizer_, rendered);
}

bool ModelText::is_thinking(std::span<const tokenizer::Token> prompt) const {
  constexpr std::size_t tail_max = 8;
  const std::size_t count = std::min(prompt.size(), tail_max);
  const auto text = tokenizer_->decode(prompt.last(count), {.clean_spaces = false});
  if (!text) return false;
  const std::size_t end = text->find_last_not_of(" \n");
  return end != std::string::npos && text->substr(0, end + 1).ends_with("<think>");
}

std::vector<tokenizer::Token> ModelText::call_marks() const {
  std::vector<tokenizer::Token> out;
  for (const std::string_view mark : tools::call_marks) {
    const auto token = tokenizer_->vocabulary().find(mark);
    if (token && tokenizer_->vocabulary().is_control(*token)) out.push_back(*token);
  }
  return out;
}

Result<std::shared_ptr<grammar::Constraint>> ModelText::constraint(
    const Held& held, std::span<const tokenizer::Token> prompt) {
  if (held.format.empty()) return nullptr;
  auto made = begin(held, prompt);
  if (!made && made.error().code == ErrorCode::resource_exhausted)
    made.error().code = ErrorCode::invalid_argument;
  return made;
}

Result<std::shared_ptr<grammar::Constraint>> ModelText::begin(
    const Held& held, std::span<const tokenizer::Token> prompt) {
  std::string gbnf;
  grammar::Constraint::Options options;
  if (held.format == "json") {
    gbnf = schema::json_object_grammar();
  } else if (held.format == "schema") {
    WEFT_ASSIGN(gbnf, schema::grammar_of_schema(held.rule));
  } else if (held.format == "gbnf") {
    gbnf = held.rule;
  } else if (held.format == "tool" || held.format == "tools") {
    if (!chat_) return fail(ErrorCode::unsupported, "The model has no chat template.");
    WEFT_ASSIGN(CallGrammar calls,
                grammar_of_calls(chat_->source(), held.calls, held.rule, held.format == "tools"));
    gbnf = std::move(calls.gbnf);
    if (!calls.mark.empty()) {
      const auto token = tokenizer_->vocabulary().find(calls.mark);
      if (!token)
        return fail(ErrorCode::unsupported, "The model has no token {} for calls of tools.",
                    calls.mark);
      options.first = {*token};
    }
  } else {
    return fail(ErrorCode::unsupported, "This program does not know the format '{}'.", held.format);
  }
  if (is_thinking(prompt)) options.after = "</think>";
  WEFT_ASSIGN(auto made, grammars_->begin(gbnf, std::move(options)));
  return std::shared_ptr<grammar::Constraint>(std::move(made));
}

}  // namespace weft::chat
