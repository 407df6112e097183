// POST /tokenize, /detokenize and /apply-template: what a model's tokenizer and chat template make
// of a text, told by the coordinator's own reader of the model's file (model_texts.h). The shapes
// are llama.cpp's, with the "model" besides, since several are served here. Nothing is generated,
// so that nothing is paid. Bounds: look_bytes_max of text, as many tokens.
#pragma once

#include <string>
#include <string_view>

#include "apps/coordinator/http/answer_form.h"

namespace weft::coordinator {

// {"model", "content", "add_special": false, "parse_special": true} -> {"tokens": [...]}
[[nodiscard]] Result<OpenAiRequest> read_tokenize_request(std::string_view body);
// {"model", "tokens": [...]} -> {"content": "..."}
[[nodiscard]] Result<OpenAiRequest> read_detokenize_request(std::string_view body);
// A request of chat completions, and "add_generation_prompt": true -> {"prompt": "..."}
[[nodiscard]] Result<OpenAiRequest> read_template_request(std::string_view body);

class LookText final : public AnswerForm {
 public:
  explicit LookText(TextLook::Kind kind) : kind_(kind) {}

  [[nodiscard]] std::string begin() override { return {}; }
  [[nodiscard]] std::string tokens(std::size_t, const std::vector<SaidToken>&) override {
    return {};
  }
  [[nodiscard]] std::string end(std::size_t, const inference::AnswerEnd&) override { return {}; }
  void tell(Told told) override { told_ = std::move(told); }
  [[nodiscard]] std::string close() override { return {}; }
  [[nodiscard]] std::string document() override;
  [[nodiscard]] std::size_t choices() const override { return 1; }

 private:
  const TextLook::Kind kind_;
  Told told_;
};

}  // namespace weft::coordinator
