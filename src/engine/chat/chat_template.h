// How a conversation becomes the text that a model continues: the template in the model's file, or
// where it has none, the one that its special tokens point to.
//
//   WEFT_ASSIGN(const auto chat, ChatTemplate::create(file.metadata, tokenizer->vocabulary()));
//   WEFT_ASSIGN(const std::string text, chat.render(R"({"messages": [{"role": "user", "content":
//   "Hi"}]})", {.now = jinja::WallTime::local_now()})); WEFT_ASSIGN(const auto tokens,
//   encode_prompt(*tokenizer, text));
//
// Threading: const after creation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "engine/gguf/metadata.h"
#include "engine/jinja/template.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::chat {

class ChatTemplate {
 public:
  enum class Origin : std::uint8_t { given, llama3, chatml, llama2 };

  // A template by itself; bos_token and eos_token are empty where the input does not say what they
  // are.
  [[nodiscard]] static Result<ChatTemplate> parse(std::string_view source);
  // The same with the model's bos_token and eos_token.
  [[nodiscard]] static Result<ChatTemplate> parse(std::string_view source,
                                                  const tokenizer::Vocabulary& vocabulary);
  // tokenizer.chat_template, and its tool_use variant where there is one. Without: Llama 3, ChatML
  // or Llama 2 by the tokens; not_found if these fit none.
  [[nodiscard]] static Result<ChatTemplate> create(const gguf::Metadata& metadata,
                                                   const tokenizer::Vocabulary& vocabulary);

  // `input` is a JSON object: "messages", and optionally "tools", "documents" (null without),
  // "add_generation_prompt" (true without), "bos_token", "eos_token" (the model's without); any
  // other key is a variable of the template. Errors are those of jinja::Template::render;
  // permission_denied carries the template's own words.
  [[nodiscard]] Result<std::string> render(std::string_view input,
                                           const jinja::RenderOptions& options) const;

  [[nodiscard]] Origin origin() const { return origin_; }
  // The template's text; of the one for tools where there is one.
  [[nodiscard]] const std::string& source() const { return source_; }

 private:
  ChatTemplate(jinja::Template main, Origin origin) : main_(std::move(main)), origin_(origin) {}

  void take_texts(const tokenizer::Vocabulary& vocabulary);

  jinja::Template main_;
  std::optional<jinja::Template> with_tools_;  // Used when the input has tools.
  Origin origin_;
  std::string source_;
  std::string begin_text_, end_text_;
};

[[nodiscard]] std::string_view to_string(ChatTemplate::Origin origin);

// A rendered conversation as tokens: special tokens are parsed, and BOS is put before it unless the
// template wrote it.
[[nodiscard]] Result<std::vector<tokenizer::Token>> encode_prompt(
    const tokenizer::Tokenizer& tokenizer, std::string_view text);

}  // namespace weft::chat
