// What was drawn becomes the input of the next pass: the token of every row, one position further.
//
// Group 0: 0 drawn ([row] of GpuDrawn, read), 1 tokens ([row] u32), 2 RowPlace for each row, 3 BatchSize.
#pragma once

#include "engine/gpu/device.h"

namespace weft::kernels {

[[nodiscard]] gpu::PipelineOptions advance_pipeline();
[[nodiscard]] gpu::Workgroups advance_workgroups(std::uint32_t rows);

}  // namespace weft::kernels
