// A language model in a browser's Worker: its file, its tokenizer, its chat template, and an engine
// on the device that was asked for, which answers many calls side by side.
//
//   WEFT_CO_ASSIGN(auto model, co_await Model::load(std::make_unique<JsSource>(),
//   gpu::web::create_instance(), request)); model->generate(call, std::move(request));     pieces
//   and the answer go through imports.h
//
// Threading: the Worker's one thread. Lifetime: a model that is answering may not be destroyed.
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
  // Fails with what is wrong with the file, with unavailable if a GPU is asked for and there is
  // none, with out_of_memory if the weights do not fit.
  [[nodiscard]] static Async<Result<std::unique_ptr<Model>>> load(
      std::unique_ptr<gguf::Source> source, std::unique_ptr<gpu::Instance> instance,
      LoadRequest request);
  Model(const Model&) = delete;

  [[nodiscard]] std::string info() const;
  [[nodiscard]] const tokenizer::Tokenizer& tokenizer() const { return *tokenizer_; }

  // `input` is what chat::ChatTemplate::render() takes.
  [[nodiscard]] Result<std::string> render(std::string_view input) const;
  [[nodiscard]] Result<std::vector<llm::Token>> chat_prompt(std::string_view input) const;
  [[nodiscard]] Result<std::vector<llm::Token>> text_prompt(std::string_view text) const;

  // Answers the call later: a piece for every token, then the whole.
  void generate(std::uint32_t call, llm::Request request);
  // The call is answered as cancelled, within a token. An answered call is left alone.
  void cancel(std::uint32_t call);
  // Gives the GPU's memory back; what waits fails with device_lost.
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
  std::unique_ptr<gpu::Device> device_;  // Null on the processor.
  std::string no_gpu_;                   // Why it is the processor, where a GPU was looked for.
  std::unique_ptr<llm::Engine> engine_;
  std::unique_ptr<llm::Generator> generator_;
  std::unordered_map<std::uint32_t, bool> calls_;  // Whether each is still wanted.
  bool running_ = false;
};

}  // namespace weft::llm_web
