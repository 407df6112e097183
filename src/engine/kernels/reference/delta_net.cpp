#include "engine/kernels/reference/delta_net.h"

#include <algorithm>
#include <vector>

#include "common/base/check.h"
#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/dot.h"

namespace weft::kernels::reference {

void convolve(std::span<float> x, std::span<float> history, std::span<const float> weight,
              std::size_t taps) {
  check(history.size() == x.size() * (taps - 1) && weight.size() == x.size() * taps,
        "history and weight have the taps of every row");
  for (std::size_t row = 0; row < x.size(); ++row) {
    float* past = history.data() + row * (taps - 1);
    const float* factors = weight.data() + row * taps;
    const float now = x[row];
    float sum = factors[taps - 1] * now;
    for (std::size_t tap = 0; tap + 1 < taps; ++tap) sum += factors[tap] * past[tap];
    std::copy(past + 1, past + taps - 1, past);
    past[taps - 2] = now;
    x[row] = silu(sum);
  }
}

void delta_step(const DeltaStep& step, std::span<float> state, std::span<float> out) {
  const std::size_t keys = step.key.size(), values = step.value.size();
  check(state.size() == keys * values && out.size() == values && step.query.size() == keys,
        "the state has a number for each key and value");
  std::vector<float> said(values);
  for (std::size_t k = 0; k < keys; ++k) {
    float* row = state.data() + k * values;
    for (std::size_t v = 0; v < values; ++v) row[v] *= step.decay;
    add_scaled(said, {row, values}, step.key[k]);
  }
  for (std::size_t v = 0; v < values; ++v) said[v] = (step.value[v] - said[v]) * step.beta;
  std::ranges::fill(out, 0.0f);
  for (std::size_t k = 0; k < keys; ++k) {
    const std::span<float> row = state.subspan(k * values, values);
    add_scaled(row, said, step.key[k]);
    add_scaled(out, row, step.query[k]);
  }
}

}  // namespace weft::kernels::reference
