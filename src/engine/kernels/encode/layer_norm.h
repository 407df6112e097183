// Replaces x[row] by (x[row] - mean) / sqrt(variance + epsilon) * weight + bias, with a team of
// threads for each row. Before the norm, a row of a table may be added to x[row]: the row of its
// position, or one row for all.
//
// Bindings of group 0: 0 x (in place), 1 weight (read), 2 bias (read), 3 table (read; any buffer
// without a table), 4 RowPlace for each row (read), 5 BatchSize (uniform). Rows follow each other
// without a gap.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

struct LayerNormSpec {
  enum class Table : std::uint8_t { none, positions, one_row };

  std::uint32_t columns = 0;  // Must be a multiple of 4.
  float epsilon = 0;
  Table table = Table::none;
};
[[nodiscard]] gpu::PipelineOptions layer_norm_pipeline(const LayerNormSpec& spec, const Team& team,
                                                       std::uint32_t workgroup);
[[nodiscard]] gpu::Workgroups layer_norm_workgroups(const Team& team, std::uint32_t workgroup,
                                                    std::uint32_t rows);

}  // namespace weft::kernels
