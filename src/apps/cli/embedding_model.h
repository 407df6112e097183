// An embedding model opened for a command: its file, its tokenizer, an encoder on the requested
// device, and the instance that processes the device's callbacks.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "apps/cli/model_file.h"
#include "engine/gpu/run.h"
#include "engine/llm/encoders/encoder.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::cli {

struct EmbeddingModelOptions {
  std::string model;                   // Path of a GGUF file.
  std::string device = "gpu";          // "gpu" or "cpu".
  std::optional<std::size_t> adapter;  // Number of the GPU; default: the best one.
  std::string activations = "f32";     // On a GPU: "f16" computes products in f16.
};

class EmbeddingModel {
 public:
  // Opens the model. It runs on the CPU if no GPU kernel supports its shape.
  [[nodiscard]] static Result<std::unique_ptr<EmbeddingModel>> open(
      const EmbeddingModelOptions& options);
  EmbeddingModel(const EmbeddingModel&) = delete;

  [[nodiscard]] const llm::EncoderConfig& config() const { return encoder_->config(); }
  [[nodiscard]] std::string device() const { return encoder_->device(); }
  // Null if the file has no tokenizer.
  [[nodiscard]] const tokenizer::Tokenizer* tokenizer() const { return tokenizer_.get(); }
  // Blocks until the texts are embedded.
  [[nodiscard]] Result<llm::Vectors> embed(std::vector<std::vector<llm::Token>> texts);

 private:
  explicit EmbeddingModel(ModelFile file) : file_(std::move(file)) {}

  ModelFile file_;
  llm::EncoderModel model_;
  std::unique_ptr<const tokenizer::Tokenizer> tokenizer_;
  // Order of destruction: the encoder before its device, the device before its instance. All are
  // null on the CPU.
  std::unique_ptr<gpu::PumpedInstance> instance_;
  std::unique_ptr<gpu::Device> device_;
  std::unique_ptr<llm::Encoder> encoder_;
};

}  // namespace weft::cli
