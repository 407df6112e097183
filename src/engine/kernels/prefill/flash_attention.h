// The attention of attention.h for many rows of a sequence: a workgroup computes one query head of
// up to `tile_rows` consecutive rows, and loads the keys and values that they share into workgroup
// memory once.
//
// There are two kernels. With subgroup matrices, queries, keys, values and weights are f16 and sums
// are f32. Without them, all numbers are f32.
//
// Bindings of group 0: as in attention.h (0 queries, 1 RowPlace, 2 keys, 3 values, 4 out), and 5
// AttentionTile for each workgroup (read).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/kernels/attention.h"
#include "engine/kernels/batch.h"

namespace weft::kernels {

// A tile of consecutive rows of one segment.
struct AttentionTile {
  std::uint32_t first_row = 0;
  std::uint32_t rows = 0;  // The rows of a tile in use, at most tile_rows.
};

struct FlashTuning {
  // The subgroup matrices (m x k times k x n); m is 0 for the f32 kernel.
  std::uint32_t matrix_m = 0, matrix_n = 0, matrix_k = 0;
  std::uint32_t subgroup_size = 0;
  std::uint32_t tile_rows = 32;
  // Positions whose keys, and then values, are in workgroup memory at a time.
  std::uint32_t tile_positions = 16;
  std::uint32_t row_threads = 8;  // Threads that share a row in the f32 kernel.
  bool out_halves = false;  // True if the output is f16; possible only with subgroup matrices.

  [[nodiscard]] std::uint32_t threads() const;
  [[nodiscard]] std::uint32_t workgroup_bytes(const AttentionSpec& spec) const;
};

[[nodiscard]] FlashTuning flash_tuning(const gpu::Device& device, const AttentionSpec& spec,
                                       bool exact = false);
[[nodiscard]] std::vector<AttentionTile> attention_tiles(std::span<const Segment> segments,
                                                         const FlashTuning& tuning);
[[nodiscard]] gpu::PipelineOptions flash_attention_pipeline(const AttentionSpec& spec,
                                                            const FlashTuning& tuning);
[[nodiscard]] gpu::Workgroups flash_attention_workgroups(const AttentionSpec& spec,
                                                         std::uint32_t tiles);

}  // namespace weft::kernels
