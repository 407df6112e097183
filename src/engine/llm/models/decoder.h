// What most architectures are: layers of a norm, softmax attention, a norm and a gated
// feed-forward, which differ in a few parts.
#pragma once

#include "engine/llm/models/reading.h"

namespace weft::llm {

struct DecoderParts {
  enum class Biases : std::uint8_t { none, optional, needed };  // On queries, keys and values.

  Rope::Pairs pairs = Rope::Pairs::halves;
  Biases biases = Biases::none;
  bool head_norms = false;  // Queries and keys are normed head by head before they turn.
  bool out_norms = false;   // Layer::mixer_out_norm and feed_forward_out_norm.
  bool experts = false;     // In the place of each feed-forward.
};

// All of the model: its numbers, its ends and its layers.
[[nodiscard]] Result<Model> read_decoder(const ModelReader& reader, const DecoderParts& parts);

}  // namespace weft::llm
