#include "engine/llm/models/llama.h"

#include "engine/llm/models/reading.h"

namespace weft::llm {

Result<Model> read_llama(const gguf::File& file) {
  const ModelReader reader(file, "llama");
  Model model;
  WEFT_ASSIGN(model.config, reader.common());
  WEFT_ASSIGN(model.config.rope, reader.rope(Rope::Pairs::adjacent, model.config.attention.head_dim));
  WEFT_OK(reader.read_ends(model));
  if (file.find_tensor("rope_freqs.weight") != nullptr) {
    WEFT_ASSIGN(model.rope_divisors, reader.tensor("rope_freqs.weight", {model.config.rope.frequencies.size()}));
  }
  for (std::uint32_t i = 0; i < model.config.layers; ++i) {
    Layer layer;
    WEFT_ASSIGN(layer.norm, reader.tensor(i, "attn_norm.weight", {model.config.embedding}));
    WEFT_ASSIGN(Attention attention, reader.attention(i, model.config));
    const AttentionShape& shape = model.config.attention;
    WEFT_ASSIGN(attention.q_bias, reader.tensor_or_none(i, "attn_q.bias", {shape.q_rows()}));
    WEFT_ASSIGN(attention.k_bias, reader.tensor_or_none(i, "attn_k.bias", {shape.kv_rows()}));
    WEFT_ASSIGN(attention.v_bias, reader.tensor_or_none(i, "attn_v.bias", {shape.kv_rows()}));
    layer.mixer = attention;
    WEFT_ASSIGN(layer.feed_forward_norm, reader.tensor(i, "ffn_norm.weight", {model.config.embedding}));
    WEFT_ASSIGN(layer.feed_forward, reader.feed_forward(i, model.config));
    model.layers.push_back(layer);
  }
  return model;
}

}  // namespace weft::llm
