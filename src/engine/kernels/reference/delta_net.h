// The parts of a gated DeltaNet layer: a short causal convolution, and one step of the recurrent
// state of one head.
#pragma once

#include <cstddef>
#include <span>

namespace weft::kernels::reference {

// One position of a depthwise convolution, then SiLU. history[row][taps - 1] holds the inputs
// before this one, oldest first, and takes this one in; weight[row][taps], oldest first. x becomes
// the output.
void convolve(std::span<float> x, std::span<float> history, std::span<const float> weight,
              std::size_t taps);

// One position of one head. state[key][value] decays, forgets what it said for `key` and learns
// `value` instead, in the proportion `beta`; out[value] is what it says for `query`. query is
// scaled and key normalised already.
struct DeltaStep {
  std::span<const float> query;
  std::span<const float> key;
  std::span<const float> value;
  float decay = 1;  // exp(gate).
  float beta = 1;
};
void delta_step(const DeltaStep& step, std::span<float> state, std::span<float> out);

}  // namespace weft::kernels::reference
