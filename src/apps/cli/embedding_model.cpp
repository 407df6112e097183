#include "apps/cli/embedding_model.h"

#include <filesystem>

#include "apps/cli/installation.h"
#include "engine/gpu/native/instance.h"
#include "engine/llm/encoders/gpu/gpu_encoder.h"
#include "engine/llm/run_now.h"

namespace weft::cli {

Result<std::unique_ptr<EmbeddingModel>> EmbeddingModel::open(const EmbeddingModelOptions& options) {
  if (options.device != "cpu" && options.device != "gpu")
    return fail(ErrorCode::invalid_argument, "The device '{}' is not one of gpu and cpu.",
                options.device);
  llm::GpuEncoderOptions gpu_options;
  WEFT_ASSIGN(gpu_options.activations, llm::activations_from(options.activations));
  WEFT_ASSIGN(ModelFile file, open_model(options.model));
  std::unique_ptr<EmbeddingModel> out(new EmbeddingModel(std::move(file)));
  WEFT_ASSIGN(out->model_, llm::read_encoder(out->file_.header));
  // A file for speed measurements may have no vocabulary.
  if (out->file_.header.metadata.has("tokenizer.ggml.tokens")) {
    WEFT_ASSIGN(out->tokenizer_, tokenizer::Tokenizer::create(out->file_.header.metadata));
  }
  if (options.device == "cpu" || !llm::gpu_encoder_possible(out->model_.config)) {
    WEFT_ASSIGN(out->encoder_, llm::Encoder::create(out->model_, *out->file_.source));
    return out;
  }
  out->instance_ = gpu::native::create_instance();
  const std::filesystem::path cache = cache_folder();
  WEFT_ASSIGN(out->device_,
              gpu::run(*out->instance_,
                       out->instance_->create_device(
                           {.label = "embed",
                            .trusted_shaders = true,
                            .cache_directory =
                                cache.empty() ? std::string() : (cache / "pipelines").string()},
                           options.adapter)));
  WEFT_ASSIGN(out->encoder_,
              gpu::run(*out->instance_,
                       llm::create_gpu_encoder(*out->device_, out->model_, *out->file_.source,
                                               std::move(gpu_options))));
  return out;
}

Result<llm::Vectors> EmbeddingModel::embed(std::vector<std::vector<llm::Token>> texts) {
  if (instance_ == nullptr) return llm::run_now(encoder_->embed(std::move(texts)));
  return gpu::run(*instance_, encoder_->embed(std::move(texts)));
}

}  // namespace weft::cli
