// The subgroup matrices that the kernels of this folder use.
#pragma once

#include "engine/gpu/device.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

// The matrices of gpu::f16_matrix(); null if the device has none.
[[nodiscard]] const gpu::SubgroupMatrix* prefill_matrix(const gpu::Device& device);
// Adds the enables and diagnostics that a shader with subgroup matrices needs.
void enable_matrices(ShaderText& text);

}  // namespace weft::kernels
