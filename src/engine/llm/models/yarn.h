// YaRN: a rotation for longer texts than a model was trained with. Pairs that turn quickly keep
// their frequency, pairs that turn slowly are stretched, and pairs in between get a mean of both.
// Source: Peng et al., "YaRN: Efficient Context Window Extension of Large Language Models" (2023),
// as implemented in llama.cpp.
#pragma once

#include <cstdint>

#include "engine/llm/models/model.h"

namespace weft::llm {

struct Yarn {
  double factor = 1;          // The factor by which texts may be longer.
  std::uint32_t trained = 0;  // Positions that the model was trained with.
  // A pair that turns at least `fast` times within `trained` positions keeps its frequency; a pair
  // that turns at most `slow` times is stretched by the whole factor.
  double fast = 32, slow = 1;
  // Divides the amplitude 1 + 0.1 ln(factor) by 1 + 0.1 log_multiplier ln(factor). 0 does not
  // divide.
  double log_multiplier = 0;
  double attention_factor = 1;  // A further factor of the amplitude.
};
// Stretches `rope`, whose pairs p have the frequencies base^(-2p / dimensions).
void stretch(Rope& rope, const Yarn& yarn, double base);

}  // namespace weft::llm
