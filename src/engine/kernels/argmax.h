// The best token of every row of logits, with the log-probability that it has; the first of equals.
//
// argmax_tiles: group 0: 0 logits (read, rows of `vocabulary`), 1 tiles ([row][tile] of TileBest).
// argmax_pick: group 0: 0 tiles (read), 1 drawn ([row] of token and logprob).
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"

namespace weft::kernels {

// The best of a tile of logits and the sum of exp(logit - best).
struct TileBest {
  float best = 0;
  std::uint32_t token = 0;
  float sum = 0;
  std::uint32_t unused = 0;
};
struct GpuDrawn {
  std::uint32_t token = 0;
  float logprob = 0;
};

inline constexpr std::uint32_t argmax_tile = 2048;
[[nodiscard]] constexpr std::uint32_t argmax_tiles(std::uint32_t vocabulary) { return (vocabulary + argmax_tile - 1) / argmax_tile; }

[[nodiscard]] gpu::PipelineOptions argmax_tiles_pipeline(std::uint32_t vocabulary);
[[nodiscard]] gpu::PipelineOptions argmax_pick_pipeline(std::uint32_t vocabulary);

}  // namespace weft::kernels
