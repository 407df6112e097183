// A model that embeds texts, opened for a command: its file, its tokenizer and an encoder on the
// device that was asked for, with what pumps that device's waits.
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
  std::string model;                   // A GGUF file.
  std::string device = "gpu";          // "gpu" or "cpu".
  std::optional<std::size_t> adapter;  // The GPU's number; the best one without.
  std::string activations = "f32";     // On a GPU; "f16" for products in f16.
};

class EmbeddingModel {
 public:
  // A model whose shape no GPU kernel has runs on the processor. Fails with one sentence.
  [[nodiscard]] static Result<std::unique_ptr<EmbeddingModel>> open(
      const EmbeddingModelOptions& options);
  EmbeddingModel(const EmbeddingModel&) = delete;

  [[nodiscard]] const llm::EncoderConfig& config() const { return encoder_->config(); }
  [[nodiscard]] std::string device() const { return encoder_->device(); }
  // Null for a file without one.
  [[nodiscard]] const tokenizer::Tokenizer* tokenizer() const { return tokenizer_.get(); }
  // To its end.
  [[nodiscard]] Result<llm::Vectors> embed(std::vector<std::vector<llm::Token>> texts);

 private:
  explicit EmbeddingModel(ModelFile file) : file_(std::move(file)) {}

  ModelFile file_;
  llm::EncoderModel model_;
  std::unique_ptr<const tokenizer::Tokenizer> tokenizer_;
  // The encoder goes before its device, the device before its instance; null on the processor.
  std::unique_ptr<gpu::PumpedInstance> instance_;
  std::unique_ptr<gpu::Device> device_;
  std::unique_ptr<llm::Encoder> encoder_;
};

}  // namespace weft::cli
