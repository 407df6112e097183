// Rounds rows of f32 to int8, as input of int8_product.h.
//
// quantize_rows rounds x. Bindings of group 0: 0 x (read, rows of `pitch`), 1 quants, 2 scales.
// norm_quantize rounds rms_norm(x) * weight. Bindings of group 0: 0 x (read), 1 weight (read), 2
// quants, 3 scales.
#pragma once

#include "engine/gpu/device.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

struct QuantizeRowsSpec {
  std::uint32_t columns = 0;  // Must be a multiple of 32.
  std::uint32_t pitch = 0;    // Must be a multiple of 4.
};
[[nodiscard]] gpu::PipelineOptions quantize_rows_pipeline(const QuantizeRowsSpec& spec);
[[nodiscard]] gpu::Workgroups quantize_rows_workgroups(const QuantizeRowsSpec& spec,
                                                       std::uint32_t rows);

struct NormQuantizeSpec {
  std::uint32_t columns = 0;  // Must be a multiple of 32.
  float epsilon = 0;
};
[[nodiscard]] gpu::PipelineOptions norm_quantize_pipeline(const NormQuantizeSpec& spec,
                                                          const Team& team,
                                                          std::uint32_t workgroup);
[[nodiscard]] gpu::Workgroups norm_quantize_workgroups(std::uint32_t rows);

}  // namespace weft::kernels
