#include "engine/llm/models/mistral3.h"

#include <algorithm>

#include "engine/llm/models/decoder.h"

namespace weft::llm {

Result<Model> read_mistral3(const gguf::File& file) {
  const ModelReader reader(file, "mistral3");
  if (file.metadata.has(reader.key("expert_count")))
    return fail(ErrorCode::unsupported, "A mistral3 with experts is not supported.");
  WEFT_ASSIGN(Model model, read_decoder(reader, {.pairs = Rope::Pairs::adjacent}));
  // Queries are scaled with the position from the original context length on. Weft does not scale
  // them, so the context ends at that length.
  WEFT_ASSIGN(const double growth, reader.number_or("attention.temperature_scale", 0));
  if (growth != 0) {
    WEFT_ASSIGN(const std::uint32_t length,
                reader.count_or("rope.scaling.original_context_length", model.config.context,
                                ModelReader::context_max));
    model.config.context = std::min(model.config.context, length);
  }
  return model;
}

}  // namespace weft::llm
