// A language model in a browser's Worker: its file, its tokenizer, its chat template, and an engine
// on the requested device. The engine answers many calls at once.
//
//   WEFT_CO_ASSIGN(auto model, co_await Model::load(std::make_unique<JsSource>(),
//                                                   gpu::web::create_instance(), request));
//   model->generate(call, std::move(request));
//
// The pieces and the answer of a call go to the page through the functions of imports.h.
//
// Threading: the Worker's only thread. Lifetime: a model must not be destroyed while it answers a
// call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bindings/llm_web/requests.h"
#include "common/base/async.h"
#include "common/base/result.h"
#include "engine/chat/chat_template.h"
#include "engine/gguf/file.h"
#include "engine/gguf/source.h"
#include "engine/gpu/device.h"
#include "engine/llm/engine.h"
#include "engine/llm/generator.h"
#include "engine/llm/models/model.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::llm_web {

class Model {
 public:
  // Fails with the error of the file, with unavailable if a GPU is requested and there is none, and
  // with out_of_memory if the weights do not fit.
  [[nodiscard]] static Async<Result<std::unique_ptr<Model>>> load(
      std::unique_ptr<gguf::Source> source, std::unique_ptr<gpu::Instance> instance,
      LoadRequest request);
  Model(const Model&) = delete;

  [[nodiscard]] std::string info() const;
  [[nodiscard]] const tokenizer::Tokenizer& tokenizer() const { return *tokenizer_; }

  // Renders the chat template with `input`, the JSON that chat::ChatTemplate::render() takes.
  [[nodiscard]] Result<std::string> render(std::string_view input) const;
  [[nodiscard]] Result<std::vector<llm::Token>> chat_prompt(std::string_view input) const;
  [[nodiscard]] Result<std::vector<llm::Token>> text_prompt(std::string_view text) const;

  // Starts to answer the call: the page gets a piece for every token and then the whole answer.
  void generate(std::uint32_t call, llm::Request request);
  // Cancels a call within one token; the call is answered as cancelled. A call that is already
  // answered is not changed.
  void cancel(std::uint32_t call);
  // Frees the GPU's memory. Calls that are not answered yet fail with device_lost.
  void release();

 private:
  Model() = default;
  [[nodiscard]] Async<Result<>> open_engine(LoadRequest request);
  [[nodiscard]] Async<Result<>> open_gpu(llm::EngineOptions options);
  [[nodiscard]] Result<> open_processor(const llm::EngineOptions& options);
  [[nodiscard]] Async<> idle();
  [[nodiscard]] std::uint64_t weight_bytes() const;
  void run();

  std::unique_ptr<gguf::Source> source_;
  gguf::File file_;
  llm::Model model_;
  std::unique_ptr<const tokenizer::Tokenizer> tokenizer_;
  Result<chat::ChatTemplate> chat_ = fail(ErrorCode::not_found, "The model has no chat template.");
  std::unique_ptr<gpu::Instance> instance_;
  std::unique_ptr<gpu::Device> device_;  // Null if the processor is used.
  std::string no_gpu_;                   // The reason that no GPU is used.
  std::unique_ptr<llm::Engine> engine_;
  std::unique_ptr<llm::Generator> generator_;
  std::unordered_map<std::uint32_t, bool> calls_;  // True for a call that is still wanted.
  bool running_ = false;
};

}  // namespace weft::llm_web
