// Which subgroup matrices these kernels use.
#pragma once

#include "engine/gpu/device.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

// The largest with f16 factors and f32 sums; null where the device has none, or subgroups of
// several sizes.
[[nodiscard]] const gpu::SubgroupMatrix* prefill_matrix(const gpu::Device& device);
// What a shader with them has to begin with.
void enable_matrices(ShaderText& text);

}  // namespace weft::kernels
