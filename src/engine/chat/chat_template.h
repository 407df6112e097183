// Turns a conversation into the text that a model continues. It uses the template in the model's
// file or, if the file has none, a known template that fits the model's special tokens.
//
//   WEFT_ASSIGN(const auto chat, ChatTemplate::create(file.metadata, tokenizer->vocabulary()));
//   WEFT_ASSIGN(const std::string text,
//               chat.render(R"({"messages": [{"role": "user", "content": "Hi"}]})",
//                           {.now = jinja::WallTime::local_now()}));
//   WEFT_ASSIGN(const auto tokens, encode_prompt(*tokenizer, text));
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

  // Parses a template without a model. bos_token and eos_token are empty unless the input gives
  // them.
  [[nodiscard]] static Result<ChatTemplate> parse(std::string_view source);
  // Parses a template that uses the bos_token and eos_token of the model's vocabulary.
  [[nodiscard]] static Result<ChatTemplate> parse(std::string_view source,
                                                  const tokenizer::Vocabulary& vocabulary);
  // Uses tokenizer.chat_template and, for input with tools, the tool_use variant if the file has
  // one. A file without a template gets the template of Llama 3, ChatML or Llama 2 that fits its
  // special tokens. Fails with not_found if none of the three fits.
  [[nodiscard]] static Result<ChatTemplate> create(const gguf::Metadata& metadata,
                                                   const tokenizer::Vocabulary& vocabulary);

  // `input` is a JSON object with "messages" and optionally "tools", "documents" (default: null),
  // "add_generation_prompt" (default: true), "bos_token" and "eos_token" (default: those of the
  // model). Any other key is a variable of the template. Fails as jinja::Template::render() does;
  // permission_denied has the template's own message.
  [[nodiscard]] Result<std::string> render(std::string_view input,
                                           const jinja::RenderOptions& options) const;

  [[nodiscard]] Origin origin() const { return origin_; }
  // Returns the source of the template for tools if the file has one, else of the only template.
  [[nodiscard]] const std::string& source() const { return source_; }

 private:
  ChatTemplate(jinja::Template main, Origin origin) : main_(std::move(main)), origin_(origin) {}

  void take_texts(const tokenizer::Vocabulary& vocabulary);

  jinja::Template main_;
  std::optional<jinja::Template> with_tools_;  // Used if the input has tools.
  Origin origin_;
  std::string source_;
  std::string begin_text_, end_text_;
};

[[nodiscard]] std::string_view to_string(ChatTemplate::Origin origin);

// Encodes a rendered conversation. Special tokens in the text are parsed, and BOS is added at the
// beginning unless the template wrote it.
[[nodiscard]] Result<std::vector<tokenizer::Token>> encode_prompt(
    const tokenizer::Tokenizer& tokenizer, std::string_view text);

}  // namespace weft::chat
