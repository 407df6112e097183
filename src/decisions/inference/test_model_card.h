// A model card for tests of the desk.
#pragma once

#include <string>

#include "decisions/inference/model_card.h"

namespace weft::inference {

inline ModelCard card(const std::string& name, std::uint32_t shards_min = 1,
                      std::uint32_t layers = 6) {
  return {.name = name,
          .file = std::string(64, 'a'),
          .chunks = std::string(64, 'b'),
          .bytes = 100 << 20,
          .header_bytes = 1000,
          .chunk_bytes = 1 << 20,
          .architecture = "llama",
          .layers = layers,
          .embedding = 64,
          .vocabulary = 100'000,
          .context = 512,
          .layer_bytes = 10 << 20,
          .first_bytes = 5 << 20,
          .last_bytes = 5 << 20,
          .cache_bytes = 0,
          .shards_min = shards_min,
          .owner = {}};
}

}  // namespace weft::inference
