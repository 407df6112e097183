#include "engine/llm/encoders/bert.h"

#include "common/base/format.h"

namespace weft::llm {

Result<EncoderModel> read_bert(const gguf::File& file) {
  const ModelReader reader(file, "bert");
  WEFT_ASSIGN(EncoderModel model, begin_encoder(reader));
  const EncoderConfig& config = model.config;
  const std::uint64_t width = config.embedding, feed = config.feed_forward;
  WEFT_ASSIGN(model.position_embedding,
              reader.tensor("position_embd.weight", {width, config.context}));
  for (std::uint32_t i = 0; i < config.layers; ++i) {
    const std::string block = weft::format("blk.{}.", i);
    EncoderLayer layer;
    WEFT_ASSIGN(layer.q, read_affine(reader, block + "attn_q", width, width));
    WEFT_ASSIGN(layer.k, read_affine(reader, block + "attn_k", width, width));
    WEFT_ASSIGN(layer.v, read_affine(reader, block + "attn_v", width, width));
    WEFT_ASSIGN(layer.output, read_affine(reader, block + "attn_output", width, width));
    WEFT_ASSIGN(layer.output_norm, read_norm(reader, block + "attn_output_norm", width));
    WEFT_ASSIGN(layer.up, read_affine(reader, block + "ffn_up", feed, width));
    WEFT_ASSIGN(layer.down, read_affine(reader, block + "ffn_down", width, feed));
    WEFT_ASSIGN(layer.layer_norm, read_norm(reader, block + "layer_output_norm", width));
    model.layers.push_back(layer);
  }
  return model;
}

}  // namespace weft::llm
