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
// From large to small: a large tile reads less, small ones keep more cores busy. As measured on an
// H200 (`prefill_bench sweep`).
constexpr std::array tiles = {Tile{128, 128, 64, 32, 64}, Tile{128, 128, 32, 32, 64},
                              Tile{64, 64, 64, 32, 32},   Tile{64, 64, 32, 32, 32},
                              Tile{32, 64, 64, 32, 32},   Tile{32, 32, 32, 32, 32}};
// Matrices of 8 x 8 are written out one by one too: a subgroup has no more than a compiler takes in
// a moment.
constexpr std::array small_tiles = {Tile{32, 32, 32, 16, 16}, Tile{16, 32, 32, 16, 16}};

constexpr std::uint32_t workgroups_wanted = 128;  // A large GPU's cores.
constexpr std::uint32_t workgroups_many =
    448;  // From here on the last, half empty round of them costs little.
constexpr std::uint32_t workgroups_round = 264;  // Two for each core of a large GPU.

std::uint32_t over(std::uint32_t count, std::uint32_t each) { return (count + each - 1) / each; }

// Tiles of passes of so many rows and more, for products that have so many of them: the first that
// suits. Found by drawing with a whole model, where dozens of kernels take turns: one that is run
// over and over by itself can be quicker with a tile that is slower there (docs/performance.md).
struct SameBitsTile {
  std::uint32_t rows_min, rows, columns, depth, subgroup_rows, subgroup_columns;
  bool ahead;
  std::uint32_t workgroups_min;
};
constexpr std::array same_bits_tiles = {SameBitsTile{1, 32, 128, 128, 16, 32, false, 96},
                                        SameBitsTile{1, 32, 64, 128, 16, 32, false, 0},
                                        SameBitsTile{33, 64, 64, 64, 32, 32, false, 0},
                                        SameBitsTile{129, 128, 128, 32, 64, 64, true, 128}};
// Few matrices of 8 x 8 between two branches: software GPUs write them out (matmul_text.cpp).
constexpr std::array small_same_bits_tiles = {SameBitsTile{1, 8, 32, 16, 8, 16, false, 0},
                                              SameBitsTile{9, 32, 32, 16, 8, 16, false, 0}};
constexpr std::uint32_t same_bits_workgroups = 400;  // Parts of a sum, for few rows.

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
  // Parts of the depth, so that the GPU has work for its cores; each is worth its sum being written
  // and read again.
  const std::uint32_t splits_most =
      spec.output == MatmulOutput::swiglu ? 1 : std::clamp(spec.columns / 512, 1u, 8u);
  const auto split = [&] {
    const std::uint32_t depths = over(spec.columns, tuning.tile_depth);
    const std::uint32_t wanted =
        std::clamp((workgroups_wanted + workgroups() / 8) / workgroups(), 1u, splits_most);
    tuning.splits = over(depths, over(depths, wanted));  // None of them empty.
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
  // Large tiles of a subgroup, with two workgroups a core, where they fill whole rounds: each sum
  // in registers is worth more of what is read from workgroup memory.
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
  // All have the same parts of a sum, which make its order.
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
  std::uint32_t suited = 0;  // The number of rows that has its tile.
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
