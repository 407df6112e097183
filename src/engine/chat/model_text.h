// The parts of a model's file that concern text: its tokenizer, its chat template, and the grammars
// that an answer must follow. ModelText encodes prompts and decodes tokens; it does not read
// weights.
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
  // Fails as Tokenizer::create() does. A file without a usable chat template is accepted; only chat
  // prompts fail then.
  [[nodiscard]] static Result<std::unique_ptr<ModelText>> create(const gguf::Metadata& metadata);
  ModelText(const ModelText&) = delete;

  [[nodiscard]] const tokenizer::Tokenizer& tokenizer() const { return *tokenizer_; }

  struct Prompt {
    bool chat = true;  // True: `text` is the input of the chat template (JSON).
    std::string_view text{};
    // The time for templates that ask for it, in seconds since 1970. 0: the current local time.
    std::int64_t now = 0;
  };
  // Renders `input` with the chat template. Fails with unsupported if the model has none.
  [[nodiscard]] Result<std::string> render(std::string_view input, std::int64_t now) const;
  [[nodiscard]] Result<std::vector<tokenizer::Token>> prompt(const Prompt& prompt) const;
  // True if the prompt ends inside a thought, so that the answer begins with the rest of the
  // thought.
  [[nodiscard]] bool is_thinking(std::span<const tokenizer::Token> prompt) const;
  // Returns the control tokens that mark tool calls.
  [[nodiscard]] std::vector<tokenizer::Token> call_marks() const;

  // The constraints of an answer, as the fields format, rule and calls of protocol::serving::Ask.
  struct Held {
    std::string_view format{}, rule{}, calls{};
  };
  // Returns the constraint of an answer to `prompt`, or null if `held` is empty. A thought that the
  // prompt leaves open is not constrained. Fails with invalid_argument if a bound is exceeded,
  // because the request is then too large.
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
