// All that a model's file says of texts: its tokenizer, its chat template, and the grammars that an
// answer may be held to. What a prompt is read as, what tokens say, and nothing of weights.
//
//   WEFT_ASSIGN(const auto text, ModelText::create(file.metadata));
//   WEFT_ASSIGN(const auto tokens, text->prompt({.chat = true, .text = R"({"messages": []})"}));
//
// Threading: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "engine/chat/chat_template.h"
#include "engine/grammar/constraint.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::chat {

class ModelText {
 public:
  // Fails as Tokenizer::create. A file without a usable chat template is fine until a chat is
  // asked.
  [[nodiscard]] static Result<std::unique_ptr<ModelText>> create(const gguf::Metadata& metadata);
  ModelText(const ModelText&) = delete;

  [[nodiscard]] const tokenizer::Tokenizer& tokenizer() const { return *tokenizer_; }

  struct Prompt {
    bool chat = true;  // `text` is what the chat template is rendered with (JSON).
    std::string_view text{};
    std::int64_t now = 0;  // What a template that asks for the time is told, in seconds since
                           // 1970; 0: the time here.
  };
  // What the chat template makes of `input`; unsupported if the model has none.
  [[nodiscard]] Result<std::string> render(std::string_view input, std::int64_t now) const;
  [[nodiscard]] Result<std::vector<tokenizer::Token>> prompt(const Prompt& prompt) const;
  // Whether the prompt ends within a thought, which the answer therefore begins with.
  [[nodiscard]] bool is_thinking(std::span<const tokenizer::Token> prompt) const;
  // The control tokens that mark calls of tools.
  [[nodiscard]] std::vector<tokenizer::Token> call_marks() const;

  // What an answer is held to: as protocol::serving::Ask has format, rule and calls.
  struct Held {
    std::string_view format{}, rule{}, calls{};
  };
  // For an answer to `prompt`; null for nothing. A thought that the prompt leaves open comes
  // before. Whatever bound it crosses is invalid_argument: it is the request that does.
  [[nodiscard]] Result<std::shared_ptr<grammar::Constraint>> constraint(
      const Held& held, std::span<const tokenizer::Token> prompt);

 private:
  ModelText() = default;
  [[nodiscard]] Result<std::shared_ptr<grammar::Constraint>> begin(
      const Held& held, std::span<const tokenizer::Token> prompt);

  std::unique_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::unique_ptr<grammar::Grammars> grammars_;
  std::optional<ChatTemplate> chat_;
};

}  // namespace weft::chat
