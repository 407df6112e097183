#include "engine/llm/models/qwen35.h"

#include <array>

#include "engine/llm/models/reading.h"

namespace weft::llm {
namespace {

// Rotary pairs belong in turn to the time, height and width of a position (interleaved sections).
// For text these three numbers are equal. Pairs beyond the sections belong to a fourth number that
// is always 0, so that they are not rotated.
Result<> apply_sections(const ModelReader& reader, Rope& rope) {
  const std::string key = reader.key("rope.dimension_sections");
  if (!reader.file().metadata.has(key)) return {};
  WEFT_ASSIGN(const gguf::Array* sections, reader.file().metadata.array(key));
  constexpr std::size_t count = 4;
  if (sections->count != count)
    return fail(ErrorCode::invalid_argument, "{} has {} numbers; it must have 4.", key,
                sections->count);
  std::array<std::int64_t, count> sizes{};
  std::int64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto size = sections->integer(i);
    if (!size || *size < 0 || *size > static_cast<std::int64_t>(ModelReader::head_dim_max))
      return fail(ErrorCode::invalid_argument, "{} must hold integers from 0 to {}.", key,
                  ModelReader::head_dim_max);
    sizes[i] = *size;
    total += *size;
  }
  if (total == 0) return fail(ErrorCode::invalid_argument, "{} must not be all 0.", key);
  for (std::size_t pair = 0; pair < rope.frequencies.size(); ++pair) {
    const std::int64_t sector = static_cast<std::int64_t>(pair) % total;
    const auto axis = static_cast<std::size_t>(sector % 3);
    if (sector / 3 >= sizes[axis]) rope.frequencies[pair] = 0;
  }
  return {};
}

Result<DeltaNetShape> read_delta_net_shape(const ModelReader& reader) {
  DeltaNetShape shape;
  WEFT_ASSIGN(shape.conv_taps, reader.count("ssm.conv_kernel", 16));
  WEFT_ASSIGN(shape.key_dim, reader.count("ssm.state_size", ModelReader::head_dim_max));
  WEFT_ASSIGN(shape.key_heads, reader.count("ssm.group_count", ModelReader::heads_max));
  WEFT_ASSIGN(shape.value_heads, reader.count("ssm.time_step_rank", ModelReader::heads_max));
  WEFT_ASSIGN(const std::uint32_t inner, reader.count("ssm.inner_size", ModelReader::width_max));
  if (shape.value_heads % shape.key_heads != 0)
    return fail(ErrorCode::invalid_argument, "{} value heads cannot share {} key heads evenly.",
                shape.value_heads, shape.key_heads);
  if (inner != shape.value_heads * shape.key_dim)
    return fail(ErrorCode::invalid_argument,
                "{} is {}; {} heads with a square state of {} need {}.",
                reader.key("ssm.inner_size"), inner, shape.value_heads, shape.key_dim,
                shape.value_heads * shape.key_dim);
  shape.value_dim = shape.key_dim;
  if (shape.conv_taps < 2)
    return fail(ErrorCode::invalid_argument, "{} is 1; it must be at least 2.",
                reader.key("ssm.conv_kernel"));
  if (shape.key_dim % 4 != 0)
    return fail(ErrorCode::unsupported,
                "A DeltaNet state of {} is not supported (not a multiple of 4).", shape.key_dim);
  return shape;
}

Result<DeltaNet> read_delta_net(const ModelReader& reader, std::uint32_t layer,
                                const Config& config) {
  const DeltaNetShape& shape = *config.delta_net;
  DeltaNet out;
  WEFT_ASSIGN(out.qkv,
              reader.tensor(layer, "attn_qkv.weight", {config.embedding, shape.conv_rows()}));
  WEFT_ASSIGN(out.gate,
              reader.tensor(layer, "attn_gate.weight", {config.embedding, shape.value_rows()}));
  WEFT_ASSIGN(out.beta,
              reader.tensor(layer, "ssm_beta.weight", {config.embedding, shape.value_heads}));
  WEFT_ASSIGN(out.alpha,
              reader.tensor(layer, "ssm_alpha.weight", {config.embedding, shape.value_heads}));
  WEFT_ASSIGN(out.dt_bias, reader.tensor(layer, "ssm_dt.bias", {shape.value_heads}));
  WEFT_ASSIGN(out.a, reader.tensor(layer, "ssm_a", {shape.value_heads}));
  WEFT_ASSIGN(out.conv,
              reader.tensor(layer, "ssm_conv1d.weight", {shape.conv_taps, shape.conv_rows()}));
  WEFT_ASSIGN(out.norm, reader.tensor(layer, "ssm_norm.weight", {shape.value_dim}));
  WEFT_ASSIGN(out.output,
              reader.tensor(layer, "ssm_out.weight", {shape.value_rows(), config.embedding}));
  return out;
}

Result<Attention> read_gated_attention(const ModelReader& reader, std::uint32_t layer,
                                       const Config& config) {
  WEFT_ASSIGN(Attention out, reader.attention(layer, config));
  WEFT_ASSIGN(out.q_norm, reader.tensor(layer, "attn_q_norm.weight", {config.attention.head_dim}));
  WEFT_ASSIGN(out.k_norm, reader.tensor(layer, "attn_k_norm.weight", {config.attention.head_dim}));
  return out;
}

}  // namespace

Result<Model> read_qwen35(const gguf::File& file) {
  const ModelReader reader(file, "qwen35");
  Model model;
  Config& config = model.config;
  WEFT_ASSIGN(config, reader.common());
  config.attention.gated = true;
  WEFT_ASSIGN(config.rope, reader.rope(Rope::Pairs::halves, config.attention.head_dim));
  WEFT_OK(apply_sections(reader, config.rope));
  WEFT_ASSIGN(config.delta_net, read_delta_net_shape(reader));
  WEFT_ASSIGN(const std::uint32_t interval,
              reader.count_or("full_attention_interval", 4, ModelReader::layers_max));
  // Layers at the end that predict further tokens are left out of the model.
  WEFT_ASSIGN(const std::uint64_t extra,
              file.metadata.unsigned_integer_or(reader.key("nextn_predict_layers"), 0));
  if (extra >= config.layers)
    return fail(ErrorCode::invalid_argument,
                "The file says that all {} layers only predict further tokens.", config.layers);
  config.layers -= static_cast<std::uint32_t>(extra);
  WEFT_OK(reader.read_ends(model));

  for (std::uint32_t i = 0; i < config.layers; ++i) {
    Layer layer;
    WEFT_ASSIGN(layer.norm, reader.tensor(i, "attn_norm.weight", {config.embedding}));
    if ((i + 1) % interval == 0) {
      WEFT_ASSIGN(layer.mixer, read_gated_attention(reader, i, config));
    } else {
      WEFT_ASSIGN(layer.mixer, read_delta_net(reader, i, config));
    }
    WEFT_ASSIGN(layer.feed_forward_norm,
                reader.tensor(i, "post_attention_norm.weight", {config.embedding}));
    WEFT_ASSIGN(layer.feed_forward, reader.feed_forward(i, config));
    model.layers.push_back(layer);
  }
  return model;
}

}  // namespace weft::llm
