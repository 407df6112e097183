#include "engine/llm/models/qwen3.h"

#include "engine/llm/models/decoder.h"

namespace weft::llm {

Result<Model> read_qwen3(const gguf::File& file) {
  return read_decoder(ModelReader(file, "qwen3"), {.head_norms = true});
}

}  // namespace weft::llm
