#include <algorithm>
#include <array>
#include <span>

#include "engine/kernels/prefill/matmul.h"
#include "engine/kernels/prefill/matrices.h"

namespace weft::kernels {
namespace {

struct Tile {
  std::uint32_t rows, columns, depth, subgroup_rows, subgroup_columns;
};
// The tiles from large to small: a large tile reads less, small tiles keep more cores busy.
// Measured on an H200 (`prefill_bench sweep`).
constexpr std::array tiles = {Tile{128, 128, 64, 32, 64}, Tile{128, 128, 32, 32, 64},
                              Tile{64, 64, 64, 32, 32},   Tile{64, 64, 32, 32, 32},
                              Tile{32, 64, 64, 32, 32},   Tile{32, 32, 32, 32, 32}};
// Tiles for matrices of 8 x 8. The statements over matrices are written out one by one, so a
// subgroup has only as many of these matrices as a compiler handles quickly.
constexpr std::array small_tiles = {Tile{32, 32, 32, 16, 16}, Tile{16, 32, 32, 16, 16}};

constexpr std::uint32_t workgroups_wanted = 128;  // One workgroup for each core of a large GPU.
// The number of workgroups from which on a half empty last round costs little.
constexpr std::uint32_t workgroups_many = 448;
constexpr std::uint32_t workgroups_round = 264;  // Two workgroups for each core of a large GPU.

std::uint32_t over(std::uint32_t count, std::uint32_t each) { return (count + each - 1) / each; }

// A tile for passes of at least rows_min rows, for products that have at least workgroups_min such
// tiles; the first that suits is used. The tiles were found by drawing with a whole model, in which
// dozens of kernels take turns: a kernel that runs alone again and again can be quicker with a tile
// that is slower in a model (docs/performance.md).
struct SameBitsTile {
  std::uint32_t rows_min, rows, columns, depth, subgroup_rows, subgroup_columns;
  bool ahead;
  std::uint32_t workgroups_min;
};
constexpr std::array same_bits_tiles = {SameBitsTile{1, 32, 128, 128, 16, 32, false, 96},
                                        SameBitsTile{1, 32, 64, 128, 16, 32, false, 0},
                                        SameBitsTile{33, 64, 64, 64, 32, 32, false, 0},
                                        SameBitsTile{129, 128, 128, 32, 64, 64, true, 128}};
// Tiles with few matrices of 8 x 8 between two branches, because the drivers of software GPUs write
// out every element of a matrix (matmul_text.cpp).
constexpr std::array small_same_bits_tiles = {SameBitsTile{1, 8, 32, 16, 8, 16, false, 0},
                                              SameBitsTile{9, 32, 32, 16, 8, 16, false, 0}};
// The number of workgroups that is wanted for passes of few rows.
constexpr std::uint32_t same_bits_workgroups = 400;

}  // namespace

MatmulTuning matmul_tuning(const gpu::Device& device, const MatmulSpec& spec,
                           const MatmulWish& wish) {
  const gpu::Limits& limits = device.limits();
  MatmulTuning tuning;
  const auto fits = [&] {
    return tuning.workgroup_bytes() <= limits.workgroup_storage_bytes_max &&
           tuning.threads() <= limits.workgroup_invocations_max &&
           tuning.threads() <= limits.workgroup_size_x_max;
  };
  const auto workgroups = [&] {
    return over(wish.rows, tuning.tile_rows) * over(spec.weight_rows, tuning.tile_columns);
  };
  // The number of splits that keeps the GPU's cores busy; the bound makes each split large enough
  // to be worth writing and reading its sum.
  const std::uint32_t splits_most =
      spec.output == MatmulOutput::swiglu ? 1 : std::clamp(spec.columns / 512, 1u, 8u);
  const auto split = [&] {
    const std::uint32_t depths = over(spec.columns, tuning.tile_depth);
    const std::uint32_t wanted =
        std::clamp((workgroups_wanted + workgroups() / 8) / workgroups(), 1u, splits_most);
    tuning.splits = over(depths, over(depths, wanted));  // Rounds down so that no split is empty.
  };

  const gpu::SubgroupMatrix* matrix = wish.exact ? nullptr : prefill_matrix(device);
  if (matrix == nullptr) {
    tuning.tile_columns = spec.output == MatmulOutput::swiglu ? 128 : 64;
    tuning.tile_depth = 16;
    tuning.tile_rows = wish.rows <= 16 ? 16 : wish.rows <= 32 ? 32 : 64;
    split();
    return tuning;
  }

  tuning.matrix_m = matrix->m;
  tuning.matrix_n = matrix->n;
  tuning.matrix_k = matrix->k;
  tuning.subgroup_size = device.adapter().subgroup_size_min;
  for (const Tile& tile :
       matrix->m < 16 ? std::span<const Tile>(small_tiles) : std::span<const Tile>(tiles)) {
    tuning.tile_rows = tile.rows;
    tuning.tile_columns = tile.columns;
    tuning.tile_depth = tile.depth;
    tuning.subgroup_rows = tile.subgroup_rows;
    tuning.subgroup_columns = tile.subgroup_columns;
    if (fits() && tile.rows < 2 * wish.rows &&
        workgroups() * splits_most >= workgroups_wanted * 2 / 3)
      break;
  }
  // Large subgroup tiles are used if they fill whole rounds with two workgroups on each core. Their
  // larger number of sums in registers uses each number from workgroup memory more often.
  const std::uint32_t parts = std::clamp(workgroups_round / workgroups(), 1u, splits_most);
  const bool whole_round =
      workgroups() * parts * 8 >= workgroups_round * 7 && workgroups() * parts <= workgroups_round;
  if (tuning.tile_rows == 128 && spec.x_halves &&
      (whole_round || workgroups() >= workgroups_many)) {
    tuning.tile_depth = 32;
    tuning.subgroup_rows = 64;
    const std::uint32_t depths = over(spec.columns, tuning.tile_depth);
    tuning.splits = over(depths, over(depths, whole_round ? parts : 1));
    return tuning;
  }
  split();
  return tuning;
}

std::vector<MatmulFrom> matmul_same_bits(const gpu::Device& device, const MatmulSpec& spec,
                                         std::uint32_t rows_max) {
  const gpu::Limits& limits = device.limits();
  const gpu::SubgroupMatrix* matrix = prefill_matrix(device);
  std::vector<MatmulFrom> out;
  if (matrix == nullptr || spec.columns % 32 != 0) return out;
  const bool small = matrix->m < 16;
  // All tilings divide a sum into the same parts, which decide the order of addition.
  const std::uint32_t depth = small || spec.columns % 64 != 0 ? 32 : 64;
  const std::uint32_t across = over(spec.weight_rows, 64), depths = over(spec.columns, depth);
  std::uint32_t splits = 1;
  if (spec.output != MatmulOutput::swiglu)
    splits = std::clamp(same_bits_workgroups / std::max(1u, across), 1u,
                        std::clamp(spec.columns / 512, 1u, 8u));
  splits = over(depths, over(depths, splits));
  const auto part_columns = [&](std::uint32_t each) {
    return over(over(spec.columns, each), splits) * each;
  };
  std::uint32_t suited = 0;  // The last rows_min that has a tile.
  for (const SameBitsTile& tile : small ? std::span<const SameBitsTile>(small_same_bits_tiles)
                                        : std::span<const SameBitsTile>(same_bits_tiles)) {
    if (tile.rows_min > rows_max) break;
    if (tile.rows_min == suited ||
        over(spec.weight_rows, tile.columns) * splits < tile.workgroups_min)
      continue;
    MatmulTuning tuning{.matrix_m = matrix->m,
                        .matrix_n = matrix->n,
                        .matrix_k = matrix->k,
                        .subgroup_size = device.adapter().subgroup_size_min,
                        .tile_rows = tile.rows,
                        .tile_columns = tile.columns,
                        .tile_depth = spec.columns % tile.depth == 0 &&
                                              part_columns(tile.depth) == part_columns(depth)
                                          ? tile.depth
                                          : depth,
                        .subgroup_rows = tile.subgroup_rows,
                        .subgroup_columns = tile.subgroup_columns,
                        .splits = splits,
                        .ahead = tile.ahead};
    if (tuning.workgroup_bytes() > limits.workgroup_storage_bytes_max) tuning.tile_depth = depth;
    if (tuning.workgroup_bytes() > limits.workgroup_storage_bytes_max ||
        tuning.threads() > limits.workgroup_invocations_max ||
        tuning.threads() > limits.workgroup_size_x_max)
      continue;
    out.push_back({.rows_min = out.empty() ? 1 : tile.rows_min, .tuning = tuning});
    suited = tile.rows_min;
  }
  return out;
}

}  // namespace weft::kernels
