// Rotates the heads of each row by the row's position, in place: the pairs (p, p + pairs) of the
// first 2 * pairs elements.
//
// Bindings of group 0: 0 x (rows of `pitch`, which begin with the heads, one after another), 1
// RowPlace for each row (read), 2 turns (read: [position][pairs] of cosine and sine), 3 BatchSize
// (uniform).
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"

namespace weft::kernels {

struct TurnRowsSpec {
  std::uint32_t heads = 1;
  std::uint32_t head_dim = 0;
  std::uint32_t pairs = 0;
  std::uint32_t pitch = 0;
};
[[nodiscard]] gpu::PipelineOptions turn_rows_pipeline(const TurnRowsSpec& spec);
[[nodiscard]] gpu::Workgroups turn_rows_workgroups(const TurnRowsSpec& spec, std::uint32_t rows);

}  // namespace weft::kernels
