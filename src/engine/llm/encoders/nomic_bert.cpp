#include "engine/llm/encoders/nomic_bert.h"

#include "common/base/format.h"

namespace weft::llm {

Result<EncoderModel> read_nomic_bert(const gguf::File& file) {
  const ModelReader reader(file, "nomic-bert");
  WEFT_ASSIGN(EncoderModel model, begin_encoder(reader));
  EncoderConfig& config = model.config;
  const std::uint64_t width = config.embedding, feed = config.feed_forward;
  WEFT_ASSIGN(config.rope, reader.rope(Rope::Pairs::halves, config.head_dim()));
  for (std::uint32_t i = 0; i < config.layers; ++i) {
    const std::string block = weft::format("blk.{}.", i);
    EncoderLayer layer;
    WEFT_ASSIGN(layer.qkv, read_affine(reader, block + "attn_qkv", 3 * width, width));
    WEFT_ASSIGN(layer.output, read_affine(reader, block + "attn_output", width, width));
    WEFT_ASSIGN(layer.output_norm, read_norm(reader, block + "attn_output_norm", width));
    WEFT_ASSIGN(layer.up, read_affine(reader, block + "ffn_up", feed, width));
    WEFT_ASSIGN(layer.gate, reader.tensor(block + "ffn_gate.weight", {width, feed}));
    WEFT_ASSIGN(layer.down, read_affine(reader, block + "ffn_down", width, feed));
    WEFT_ASSIGN(layer.layer_norm, read_norm(reader, block + "layer_output_norm", width));
    model.layers.push_back(layer);
  }
  return model;
}

}  // namespace weft::llm
