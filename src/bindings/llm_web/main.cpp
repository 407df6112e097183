// The module's entry points, which api_web.js calls. The module has one Model.
#include <memory>
#include <string>
#include <string_view>

#include <emscripten/emscripten.h>

#include "bindings/llm_web/answers.h"
#include "bindings/llm_web/imports.h"
#include "bindings/llm_web/js_source.h"
#include "bindings/llm_web/model.h"
#include "bindings/llm_web/requests.h"
#include "engine/gpu/web/instance.h"

namespace {

using weft::Result;
using weft::llm_web::Model;

std::unique_ptr<Model>& model() {
  static std::unique_ptr<Model> made;
  return made;
}

void answer(std::uint32_t call, const Result<std::string>& result) {
  const std::string_view code = result ? "" : weft::to_string(result.error().code);
  const std::string& text = result ? *result : result.error().message;
  weft_llm_answer(call, code.data(), static_cast<std::uint32_t>(code.size()), text.data(),
                  static_cast<std::uint32_t>(text.size()));
}

// The kinds of input, with the numbers that api_web.js uses.
enum class Input : int { text = 0, tokens = 1, chat = 2 };

Result<std::vector<weft::llm::Token>> read_input(Input kind, std::string_view input) {
  switch (kind) {
    case Input::text:
      return model()->text_prompt(input);
    case Input::tokens:
      return weft::llm_web::parse_tokens(input);
    case Input::chat:
      break;
  }
  return model()->chat_prompt(input);
}

Result<> generate(std::uint32_t call, std::string_view options, Input kind,
                  std::string_view input) {
  WEFT_ASSIGN(weft::llm::Request request, weft::llm_web::parse_generate(options));
  WEFT_ASSIGN(request.prompt, read_input(kind, input));
  model()->generate(call, std::move(request));
  return {};
}

weft::Async<Result<std::string>> load(std::string options) {
  WEFT_CO_ASSIGN(const auto request, weft::llm_web::parse_load(options));
  WEFT_CO_ASSIGN(model(), co_await Model::load(std::make_unique<weft::llm_web::JsSource>(),
                                               weft::gpu::web::create_instance(), request));
  co_return model()->info();
}

}  // namespace

extern "C" {
EMSCRIPTEN_KEEPALIVE void weft_llm_load(std::uint32_t call, const char* options,
                                        std::uint32_t size) {
  weft::start<Result<std::string>>(
      load(std::string(options, size)),
      [call](const Result<std::string>& result) { answer(call, result); });
}
EMSCRIPTEN_KEEPALIVE void weft_llm_generate(std::uint32_t call, const char* options,
                                            std::uint32_t options_size, int kind, const char* input,
                                            std::uint32_t size) {
  const Result<> added =
      generate(call, {options, options_size}, static_cast<Input>(kind), {input, size});
  if (!added) answer(call, std::unexpected(added.error()));
}
EMSCRIPTEN_KEEPALIVE void weft_llm_cancel(std::uint32_t call) { model()->cancel(call); }
EMSCRIPTEN_KEEPALIVE void weft_llm_tokenize(std::uint32_t call, const char* text,
                                            std::uint32_t size, int add_special,
                                            int parse_special) {
  const auto tokens = model()->tokenizer().encode(
      {text, size}, {.add_special = add_special != 0, .parse_special = parse_special != 0});
  answer(call, tokens.transform(weft::llm_web::tokens_json));
}
EMSCRIPTEN_KEEPALIVE void weft_llm_detokenize(std::uint32_t call, const char* tokens,
                                              std::uint32_t size, int show_special) {
  answer(call, weft::llm_web::parse_tokens({tokens, size})
                   .and_then([&](const std::vector<weft::llm::Token>& list) {
                     return model()->tokenizer().decode(
                         list, {.show_special = show_special != 0, .clean_spaces = false});
                   }));
}
EMSCRIPTEN_KEEPALIVE void weft_llm_render(std::uint32_t call, const char* input,
                                          std::uint32_t size) {
  answer(call, model()->render({input, size}));
}
EMSCRIPTEN_KEEPALIVE void weft_llm_release() {
  if (model()) model()->release();
}
EMSCRIPTEN_KEEPALIVE void weft_llm_turned(weft::llm_web::TurnCallback* callback) {
  const std::unique_ptr<weft::llm_web::TurnCallback> owned(callback);
  owned->call();
}
}

int main() { return 0; }
