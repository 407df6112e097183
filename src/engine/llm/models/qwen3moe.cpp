#include "engine/llm/models/qwen3moe.h"

#include "engine/llm/models/decoder.h"

namespace weft::llm {

Result<Model> read_qwen3moe(const gguf::File& file) {
  return read_decoder(ModelReader(file, "qwen3moe"), {.head_norms = true, .experts = true});
}

}  // namespace weft::llm
