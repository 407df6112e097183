#include <algorithm>
#include <array>
#include <span>

#include "engine/kernels/prefill/matmul.h"
#include "engine/kernels/prefill/matrices.h"

namespace weft::kernels {
MatmulTuning matmul_tuning(const gpu::Device& device, const MatmulSpec& spec, const MatmulWish& wish) {
  const gpu::Limits& limits = device.limits();
  MatmulTuning tuning;
  const auto fits = [&] {
    return tuning.workgroup_bytes() <= limits.workgroup_storage_bytes_max && tuning.threads() <= limits.workgroup_invocations_max &&
           tuning.threads() <= limits.workgroup_size_x_max;
  };
  // Parts of the depth, so that the GPU has work for all its cores; each keeps a few tiles of depth.
  const auto split = [&](std::uint32_t tile_outputs, std::uint32_t workgroups_wanted) {
    if (spec.output == MatmulOutput::swiglu) return;
    const std::uint32_t tiles = (wish.rows + tuning.tile_rows - 1) / tuning.tile_rows * ((spec.outputs() + tile_outputs - 1) / tile_outputs);
    const std::uint32_t depths = (spec.columns + tuning.tile_depth - 1) / tuning.tile_depth;
    const std::uint32_t wanted = std::clamp(workgroups_wanted / tiles, 1u, std::clamp(depths / 8, 1u, 8u));
    const std::uint32_t each = (depths + wanted - 1) / wanted;
    tuning.splits = (depths + each - 1) / each;
  };

  const gpu::SubgroupMatrix* matrix = wish.exact ? nullptr : prefill_matrix(device);
  if (matrix == nullptr) {
    tuning.tile_columns = spec.output == MatmulOutput::swiglu ? 128 : 64;
    tuning.tile_depth = 16;
    tuning.tile_rows = wish.rows <= 16 ? 16 : wish.rows <= 32 ? 32 : 64;
    split(64, 128);
    return tuning;
  }

  tuning.matrix_m = matrix->m;
  tuning.matrix_n = matrix->n;
  tuning.matrix_k = matrix->k;
  tuning.subgroup_size = device.adapter().subgroup_size_min;
  struct Tile {
    std::uint32_t rows, columns, depth, subgroup_rows, subgroup_columns;
  };
  // Small matrices are written out one by one too: a subgroup has no more than a compiler takes in a moment.
  static constexpr std::array small_tiles = {Tile{32, 32, 32, 16, 16}, Tile{16, 32, 32, 16, 16}};
  static constexpr std::array tiles = {Tile{128, 128, 32, 32, 64}, Tile{64, 64, 64, 32, 32}, Tile{64, 64, 32, 32, 32}, Tile{32, 64, 32, 32, 32},
                                       Tile{32, 32, 32, 32, 32}};
  for (const Tile& tile : matrix->m < 16 ? std::span<const Tile>(small_tiles) : std::span<const Tile>(tiles)) {
    tuning.tile_rows = tile.rows;
    tuning.tile_columns = tile.columns;
    tuning.tile_depth = tile.depth;
    tuning.subgroup_rows = tile.subgroup_rows;
    tuning.subgroup_columns = tile.subgroup_columns;
    const std::uint32_t workgroups = (wish.rows + tile.rows - 1) / tile.rows * ((spec.weight_rows + tile.columns - 1) / tile.columns);
    if (fits() && tile.rows <= wish.rows && (workgroups >= 128 || tile.rows * tile.columns <= 64 * 64)) break;
  }
  split(tuning.tile_columns / (spec.output == MatmulOutput::swiglu ? 2 : 1), 264);
  return tuning;
}

}  // namespace weft::kernels
