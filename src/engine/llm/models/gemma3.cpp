#include "engine/llm/models/gemma3.h"

#include <cmath>

#include "engine/llm/models/decoder.h"

namespace weft::llm {

Result<Model> read_gemma3(const gguf::File& file) {
  const ModelReader reader(file, "gemma3");
  WEFT_ASSIGN(Model model, read_decoder(reader, {.head_norms = true, .out_norms = true}));
  Config& config = model.config;
  WEFT_ASSIGN(const double cap, reader.number_or("final_logit_softcapping", 0));
  if (cap != 0)
    return fail(ErrorCode::unsupported, "{} is {}; Weft runs Gemma 3 only without this cap (0).",
                reader.key("final_logit_softcapping"), cap);
  config.embedding_scale = std::sqrt(static_cast<float>(config.embedding));
  config.activation = kernels::Activation::gelu;
  // The largest model of the family, recognised by its number of layers, scales by embedding /
  // heads instead of its head size.
  constexpr std::uint32_t layers_27b = 62;
  if (config.layers == layers_27b) {
    const std::uint32_t width = config.embedding / config.attention.heads;
    config.attention.scale = 1 / std::sqrt(static_cast<float>(width));
  }

  LocalAttention local;
  WEFT_ASSIGN(local.window, reader.count("attention.sliding_window", ModelReader::context_max));
  WEFT_ASSIGN(local.rope, reader.local_rope(config.rope.pairs, config.attention.head_dim));
  config.local = std::move(local);
  WEFT_ASSIGN(const std::uint32_t period,
              reader.count_or("attention.sliding_window_pattern", 6, ModelReader::layers_max));
  for (std::uint32_t i = 0; i < config.layers; ++i)
    std::get<Attention>(model.layers[i].mixer).local = (i + 1) % period != 0;
  return model;
}

}  // namespace weft::llm
