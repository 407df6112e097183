// YaRN: a rotation for longer texts than a model was trained with. Pairs that turn quickly stay as
// they are, slow ones are stretched, and those between are mixed. Source: Peng et al., "YaRN:
// Efficient Context Window Extension of Large Language Models" (2023), as llama.cpp has it.
#pragma once

#include <cstdint>

#include "engine/llm/models/model.h"

namespace weft::llm {

struct Yarn {
  double factor = 1;            // By which texts may be longer, above 1.
  std::uint32_t trained = 0;    // Positions that it was trained with.
  double fast = 32, slow = 1;   // Turns within them from which a pair stays, or is stretched.
  double log_multiplier = 0;    // Changes the amplitude, which is 1 + 0.1 ln(factor) where it is 0.
  double attention_factor = 1;  // A factor of the amplitude besides.
};
// `rope` turns by base^(-2p / dimensions), as many pairs as it has frequencies.
void stretch(Rope& rope, const Yarn& yarn, double base);

}  // namespace weft::llm
