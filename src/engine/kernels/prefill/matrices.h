// The subgroup matrices that these kernels use.
#pragma once

#include "engine/gpu/device.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

// The largest subgroup matrix with f16 factors and f32 sums; null if the device has none or has
// subgroups of several sizes.
[[nodiscard]] const gpu::SubgroupMatrix* prefill_matrix(const gpu::Device& device);
// Adds the enables and diagnostics that a shader with subgroup matrices needs.
void enable_matrices(ShaderText& text);

}  // namespace weft::kernels
