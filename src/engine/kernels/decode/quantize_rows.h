// Rows of f32 rounded to int8, as int8_product.h takes them.
//
// Group 0: 0 x (read, rows of `pitch`), 1 quants, 2 scales.
#pragma once

#include "engine/gpu/device.h"

namespace weft::kernels {

struct QuantizeRowsSpec {
  std::uint32_t columns = 0;  // A multiple of 32.
  std::uint32_t pitch = 0;    // A multiple of 4.
};
[[nodiscard]] gpu::PipelineOptions quantize_rows_pipeline(const QuantizeRowsSpec& spec);
[[nodiscard]] gpu::Workgroups quantize_rows_workgroups(const QuantizeRowsSpec& spec, std::uint32_t rows);

}  // namespace weft::kernels
