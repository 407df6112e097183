#include "engine/llm/models/llama.h"

#include "engine/llm/models/decoder.h"

namespace weft::llm {

Result<Model> read_llama(const gguf::File& file) {
  const ModelReader reader(file, "llama");
  WEFT_ASSIGN(Model model, read_decoder(reader, {.pairs = Rope::Pairs::adjacent,
                                                 .biases = DecoderParts::Biases::optional}));
  if (file.find_tensor("rope_freqs.weight") != nullptr) {
    WEFT_ASSIGN(model.rope_divisors,
                reader.tensor("rope_freqs.weight", {model.config.rope.frequencies.size()}));
  }
  return model;
}

}  // namespace weft::llm
