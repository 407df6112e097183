// The model that most architectures share: layers with a norm, softmax attention, a second norm and
// a gated feed-forward. DecoderParts has the differences between the architectures.
#pragma once

#include "engine/llm/models/reading.h"

namespace weft::llm {

struct DecoderParts {
  // The biases of queries, keys and values.
  enum class Biases : std::uint8_t { none, optional, needed };

  Rope::Pairs pairs = Rope::Pairs::halves;
  Biases biases = Biases::none;
  bool head_norms = false;  // Queries and keys have a norm for each head before the rotation.
  bool out_norms = false;   // The layers have mixer_out_norm and feed_forward_out_norm.
  bool experts = false;     // Each layer has a mixture of experts as its feed-forward.
};

// Reads the whole model: its numbers, embedding and head, and its layers.
[[nodiscard]] Result<Model> read_decoder(const ModelReader& reader, const DecoderParts& parts);

}  // namespace weft::llm
