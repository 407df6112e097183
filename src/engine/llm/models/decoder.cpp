#include "engine/llm/models/decoder.h"

namespace weft::llm {
namespace {

Result<Attention> read_attention(const ModelReader& reader, const DecoderParts& parts,
                                 const Config& config, std::uint32_t layer) {
  const AttentionShape& shape = config.attention;
  WEFT_ASSIGN(Attention out, reader.attention(layer, config));
  const auto bias = [&](std::string_view name, std::uint32_t rows) -> Result<Weight> {
    if (parts.biases == DecoderParts::Biases::none) return Weight{nullptr};
    if (parts.biases == DecoderParts::Biases::needed) return reader.tensor(layer, name, {rows});
    return reader.tensor_or_none(layer, name, {rows});
  };
  WEFT_ASSIGN(out.q_bias, bias("attn_q.bias", shape.q_rows()));
  WEFT_ASSIGN(out.k_bias, bias("attn_k.bias", shape.kv_rows()));
  WEFT_ASSIGN(out.v_bias, bias("attn_v.bias", shape.kv_rows()));
  if (parts.head_norms) {
    WEFT_ASSIGN(out.q_norm, reader.tensor(layer, "attn_q_norm.weight", {shape.head_dim}));
    WEFT_ASSIGN(out.k_norm, reader.tensor(layer, "attn_k_norm.weight", {shape.head_dim}));
  }
  return out;
}

}  // namespace

Result<Model> read_decoder(const ModelReader& reader, const DecoderParts& parts) {
  Model model;
  Config& config = model.config;
  WEFT_ASSIGN(config, reader.common());
  WEFT_ASSIGN(config.rope, reader.rope(parts.pairs, config.attention.head_dim));
  WEFT_OK(reader.read_ends(model));
  if (parts.experts) {
    WEFT_ASSIGN(config.experts, reader.experts());
    config.feed_forward = config.experts->used * config.experts->feed_forward;
  }
  for (std::uint32_t i = 0; i < config.layers; ++i) {
    Layer layer;
    WEFT_ASSIGN(layer.norm, reader.tensor(i, "attn_norm.weight", {config.embedding}));
    WEFT_ASSIGN(layer.mixer, read_attention(reader, parts, config, i));
    WEFT_ASSIGN(layer.feed_forward_norm, reader.tensor(i, "ffn_norm.weight", {config.embedding}));
    if (parts.experts) {
      WEFT_ASSIGN(layer.feed_forward, reader.experts(i, config));
    } else {
      WEFT_ASSIGN(layer.feed_forward, reader.feed_forward(i, config));
    }
    if (parts.out_norms) {
      WEFT_ASSIGN(layer.mixer_out_norm,
                  reader.tensor(i, "post_attention_norm.weight", {config.embedding}));
      WEFT_ASSIGN(layer.feed_forward_out_norm,
                  reader.tensor(i, "post_ffw_norm.weight", {config.embedding}));
    }
    model.layers.push_back(layer);
  }
  return model;
}

}  // namespace weft::llm
