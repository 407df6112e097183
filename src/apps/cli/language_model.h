// A language model opened for a command: its file, its tokenizer, an engine on the requested
// device, and the instance that processes the device's callbacks.
//
//   WEFT_ASSIGN(const auto model, LanguageModel::open(options));
//   auto answer = model->run(generator.generate(...));
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/gguf/file.h"
#include "engine/gguf/mapped_file.h"
#include "engine/gpu/run.h"
#include "engine/llm/engine.h"
#include "engine/llm/models/model.h"
#include "engine/llm/run_now.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::cli {

struct LanguageModelOptions {
  std::string model;                   // Path of a GGUF file.
  std::string device = "gpu";          // "gpu" or "cpu".
  std::optional<std::size_t> adapter;  // Number of the GPU; default: the best one.
  std::string activations = "f32";
  std::string kv = "f16";
  std::uint32_t context = 0;  // Maximum tokens; 0: the model's own, at most 4096.
  std::uint32_t sequences = 1;
  std::size_t threads = 0;  // Threads of the CPU engine; 0: one for each core.
};

class LanguageModel {
 public:
  // Opens the model and reports progress on a terminal.
  [[nodiscard]] static Result<std::unique_ptr<LanguageModel>> open(
      const LanguageModelOptions& options);
  LanguageModel(const LanguageModel&) = delete;

  [[nodiscard]] const gguf::File& file() const { return file_; }
  [[nodiscard]] const llm::Model& model() const { return model_; }
  // The GPU; null if the model runs on the CPU.
  [[nodiscard]] const gpu::Device* gpu() const { return device_.get(); }
  [[nodiscard]] llm::Engine& engine() { return *engine_; }
  // Null if the file has no tokenizer.
  [[nodiscard]] const tokenizer::Tokenizer* tokenizer() const { return tokenizer_.get(); }
  [[nodiscard]] double load_s() const { return load_s_; }

  // Blocks until `work` on the engine's device is done.
  template <class T>
  T run(Async<T> work) {
    if (instance_) return gpu::run(*instance_, std::move(work));
    return llm::run_now(std::move(work));
  }

 private:
  LanguageModel() = default;

  std::unique_ptr<gguf::MappedFile> source_;
  gguf::File file_;
  llm::Model model_;
  std::unique_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::unique_ptr<gpu::PumpedInstance> instance_;  // Null if the model runs on the CPU.
  std::unique_ptr<gpu::Device> device_;
  std::unique_ptr<llm::Engine> engine_;
  double load_s_ = 0;
};

}  // namespace weft::cli
