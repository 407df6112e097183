#include "engine/gpu/f16_matrix.h"

#include <bit>

namespace weft::gpu {

const SubgroupMatrix* f16_matrix(const Device& device) {
  const AdapterInfo& adapter = device.adapter();
  const bool one_size = adapter.subgroup_size_min == adapter.subgroup_size_max &&
                        std::has_single_bit(adapter.subgroup_size_min);
  if (!device.has("chromium-experimental-subgroup-matrix") || !device.has("shader-f16") ||
      !device.has("subgroups") || !adapter.has("subgroup_id") || !one_size)
    return nullptr;
  const SubgroupMatrix* best = nullptr;
  for (const SubgroupMatrix& one : adapter.subgroup_matrices) {
    // Sides must be 8 or 16, because kernels' tiles are multiples of 16 and a cell of workgroup
    // memory has eight numbers.
    const auto whole = [](std::uint32_t side) { return side == 8 || side == 16; };
    const bool fits = one.component == "f16" && one.result == "f32" && whole(one.m) &&
                      whole(one.n) && whole(one.k) && adapter.subgroup_size_min >= one.m;
    if (fits && (best == nullptr || one.m * one.n * one.k > best->m * best->n * best->k))
      best = &one;
  }
  return best;
}

}  // namespace weft::gpu
