// The parts of a gated DeltaNet layer: a short causal convolution, and one step of the recurrent
// state of one head.
#pragma once

#include <cstddef>
#include <span>

namespace weft::kernels::reference {

// Runs one position of a depthwise convolution, then SiLU, and replaces x by the output.
// history[row][taps - 1] holds the inputs before this one, oldest first, and is updated with x;
// weight[row][taps] is oldest first, too.
void convolve(std::span<float> x, std::span<float> history, std::span<const float> weight,
              std::size_t taps);

// One position of one head. First state[key][value] decays; then its value for `key` is replaced by
// `value` in the proportion `beta`; out[value] becomes its value for `query`. The caller has
// already scaled the query and normalised the key.
struct DeltaStep {
  std::span<const float> query;
  std::span<const float> key;
  std::span<const float> value;
  float decay = 1;  // The factor of the old state: exp(gate).
  float beta = 1;
};
void delta_step(const DeltaStep& step, std::span<float> state, std::span<float> out);

}  // namespace weft::kernels::reference
