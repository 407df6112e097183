#include "engine/llm/models/qwen2.h"

#include "engine/llm/models/decoder.h"

namespace weft::llm {

Result<Model> read_qwen2(const gguf::File& file) {
  return read_decoder(ModelReader(file, "qwen2"), {.biases = DecoderParts::Biases::needed});
}

}  // namespace weft::llm
