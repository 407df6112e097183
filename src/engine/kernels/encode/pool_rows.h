// Makes one vector of length 1 of the rows of each text: their mean, the first or the last row.
//
// Bindings of group 0: 0 x (read, rows without a gap), 1 Segment for each text (read), 2 out (one
// row for each text).
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"

namespace weft::kernels {

struct PoolRowsSpec {
  enum class Way : std::uint8_t { mean, first, last };

  std::uint32_t columns = 0;  // Must be a multiple of 4.
  Way way = Way::mean;
};
[[nodiscard]] gpu::PipelineOptions pool_rows_pipeline(const PoolRowsSpec& spec);
[[nodiscard]] gpu::Workgroups pool_rows_workgroups(std::uint32_t segments);

}  // namespace weft::kernels
