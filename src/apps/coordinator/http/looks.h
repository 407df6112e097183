// Looks: POST /tokenize, /detokenize and /apply-template. They return what a model's tokenizer or
// chat template makes of a text, computed by the coordinator's own reader of the model's file
// (model_texts.h). The formats are llama.cpp's with an additional "model", because the coordinator
// serves several models. Looks are free because nothing is generated. Bounds: look_bytes_max of
// text, look_tokens_max tokens.
#pragma once

#include <string>
#include <string_view>

#include "apps/coordinator/http/answer_form.h"

namespace weft::coordinator {

// Request {"model", "content", "add_special": false, "parse_special": true}; reply {"tokens":
// [...]}
[[nodiscard]] Result<OpenAiRequest> read_tokenize_request(std::string_view body);
// Request {"model", "tokens": [...]}; reply {"content": "..."}
[[nodiscard]] Result<OpenAiRequest> read_detokenize_request(std::string_view body);
// Request of chat completions with "add_generation_prompt": true; reply {"prompt": "..."}
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
