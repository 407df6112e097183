// Chooses the subgroup matrices that kernels use.
#pragma once

#include "engine/gpu/device.h"

namespace weft::gpu {

// Returns the largest subgroup matrix with f16 factors and f32 sums whose sides are 8 or 16, or
// null if the device has none, cannot name subgroups in WGSL, or has subgroups of several sizes.
[[nodiscard]] const SubgroupMatrix* f16_matrix(const Device& device);

}  // namespace weft::gpu
