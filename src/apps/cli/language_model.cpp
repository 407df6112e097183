#include "apps/cli/language_model.h"

#include <chrono>
#include <filesystem>

#include "apps/cli/installation.h"
#include "apps/cli/progress.h"
#include "engine/gpu/native/instance.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/gpu/gpu_engine.h"

namespace weft::cli {

Result<std::unique_ptr<LanguageModel>> LanguageModel::open(const LanguageModelOptions& options) {
  const auto begun = std::chrono::steady_clock::now();
  std::unique_ptr<LanguageModel> out(new LanguageModel);
  llm::EngineOptions engine_options{.context = options.context, .sequences = options.sequences};
  WEFT_ASSIGN(engine_options.activations, llm::activations_from(options.activations));
  WEFT_ASSIGN(engine_options.kv, llm::kv_format_from(options.kv));

  WEFT_ASSIGN(out->source_, gguf::MappedFile::open(options.model));
  auto file = gguf::read_file(*out->source_);
  if (!file) return pass(std::move(file), "while reading {}", options.model);
  out->file_ = std::move(*file);
  auto model = llm::read_model(out->file_);
  if (!model) return pass(std::move(model), "while reading {}", options.model);
  out->model_ = std::move(*model);
  // A file for speed measurements may have no vocabulary.
  if (out->file_.metadata.has("tokenizer.ggml.tokens")) {
    auto tokenizer = tokenizer::Tokenizer::create(out->file_.metadata);
    if (!tokenizer) return pass(std::move(tokenizer), "while reading {}", options.model);
    out->tokenizer_ = std::move(*tokenizer);
  }

  if (options.device == "cpu") {
    WEFT_ASSIGN(out->engine_, llm::create_cpu_engine(out->model_, *out->source_, engine_options,
                                                     options.threads));
  } else if (options.device == "gpu") {
    out->instance_ = gpu::native::create_instance();
    const std::filesystem::path cache = cache_folder();
    WEFT_ASSIGN(
        out->device_,
        out->run(out->instance_->create_device(
            {.label = "llm",
             .trusted_shaders = true,
             .cache_directory = cache.empty() ? std::string() : (cache / "pipelines").string()},
            options.adapter)));
    Progress progress("loading " + std::filesystem::path(options.model).filename().string());
    const auto show = [&](std::uint64_t done, std::uint64_t total) {
      progress.show(done >> 20, total >> 20, "MiB");
    };
    WEFT_ASSIGN(out->engine_,
                out->run(llm::create_gpu_engine(*out->device_, out->model_, *out->source_,
                                                engine_options, show)));
  } else {
    return fail(ErrorCode::invalid_argument, "The device '{}' is not one of gpu and cpu.",
                options.device);
  }
  out->load_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return out;
}

}  // namespace weft::cli
