// The parts of a gated DeltaNet layer, for rows in segments (batch.h).
//
// convolve: out[row] = silu of the convolution of x over this row and those before it.
//   Bindings of group 0: 0 x (read, rows of `pitch`), 1 weight (read, [channel][taps]), 2 history
//   (read, [slot][channel][taps - 1]), 3 RowPlace (read), 4 out (rows of `channels`), 5 BatchSize.
// remember: copies the last rows of every segment to the history.
//   Bindings of group 0: 0 x (read), 1 history, 2 Segment for each (read), 3 RowPlace (read).
// step: updates the recurrent state of every value head with the rows, one after another.
//   Bindings of group 0: 0 conv (read, rows of queries, keys, values), 1 x (read; rows of `pitch`,
//   with `alpha_offset` and `beta_offset`), 2 dt_bias (read), 3 a (read), 4 state
//   ([slot][head][value][key]), 5 out (rows of heads * value_dim), 6 Segment (read).
// gated_norm: out[head] = rms_norm(x[head]) * weight * silu(gate[head]).
//   Bindings of group 0: 0 x (read, rows of heads * dim), 1 gates (read; rows of `pitch`, at
//   `offset`), 2 weight (read), 3 out.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

struct ConvolveSpec {
  std::uint32_t channels = 0;
  std::uint32_t taps = 0;
  std::uint32_t pitch = 0;
};
[[nodiscard]] gpu::PipelineOptions convolve_pipeline(const ConvolveSpec& spec);
[[nodiscard]] gpu::Workgroups convolve_workgroups(const ConvolveSpec& spec, std::uint32_t rows);
[[nodiscard]] gpu::PipelineOptions remember_pipeline(const ConvolveSpec& spec);
[[nodiscard]] gpu::Workgroups remember_workgroups(const ConvolveSpec& spec, std::uint32_t segments);

struct DeltaStepSpec {
  std::uint32_t key_heads = 0;
  std::uint32_t value_heads = 0;  // A multiple of key_heads; head v uses key head v % key_heads.
  std::uint32_t key_dim = 0;      // Must be a multiple of 4.
  std::uint32_t value_dim = 0;
  std::uint32_t pitch = 0;
  std::uint32_t alpha_offset = 0;
  std::uint32_t beta_offset = 0;
  float epsilon = 0;  // The epsilon of the norms of queries and keys.
};
[[nodiscard]] gpu::PipelineOptions delta_step_pipeline(const DeltaStepSpec& spec, const Team& team,
                                                       std::uint32_t workgroup);
[[nodiscard]] gpu::Workgroups delta_step_workgroups(const DeltaStepSpec& spec, const Team& team,
                                                    std::uint32_t workgroup,
                                                    std::uint32_t segments);

struct GatedNormSpec {
  std::uint32_t heads = 0;
  std::uint32_t dim = 0;
  std::uint32_t pitch = 0;
  std::uint32_t offset = 0;
  float epsilon = 0;
};
[[nodiscard]] gpu::PipelineOptions gated_norm_pipeline(const GatedNormSpec& spec);
[[nodiscard]] gpu::Workgroups gated_norm_workgroups(const GatedNormSpec& spec, std::uint32_t rows);

}  // namespace weft::kernels
