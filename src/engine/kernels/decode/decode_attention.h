// Attention of single rows, each the newest of its sequence. Long contexts take two dispatches,
// attend and merge; short contexts take one dispatch, whole.
//
// attend: norms and rotates queries and keys as rotary.h does, attends to the cached positions and
// to the row itself, and writes the row's key and value to the cache. The positions are divided
// among at most `splits` workgroups for every key head (flash decoding: Dao, Haziza, Massa, Sizov
// 2023), each with an online softmax of its own.
//   Bindings of group 0: 0 qkv (read, rows of `pitch`), 1 RowPlace for each row (read), 2 turns
//   (read: [position][pairs] of cosine and sine), 3 the norms of queries and then of keys
//   (read; any buffer without norms), 4 keys, 5 values, 6 shares ([row][head][splits + 1][head_dim
//   / 4 + 1] of vec4f: the last is the row's own).
// merge: adds up the shares, multiplies them with the gates if the model has them, and rounds them
// for int8_product.h.
//   Bindings of group 0: 0 shares (read), 1 qkv (read), 2 quants, 3 scales: rows of heads *
//   head_dim, 4 RowPlace for each row (read).
// whole: does the work of attend and merge, with one workgroup for every query head.
//   Bindings of group 0: 0 to 5 as in attend, 6 quants, 7 scales.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"
#include "engine/kernels/attention.h"
#include "engine/kernels/rotary.h"

namespace weft::kernels {

struct DecodeAttentionSpec {
  RotarySpec rotary;  // The heads, the cache and the rotation.
  bool gated = false;
  AttentionView view{};
  std::uint32_t splits = 1;      // The most workgroups for a key head.
  std::uint32_t share_min = 64;  // The fewest positions for one workgroup.
  // Rows that see at least this many positions, themselves included, are computed by attend and
  // merge, other rows by whole. The order of a row's sums therefore depends only on its own
  // position, not on the other rows of the pass. If this is 0, attend and merge can compute any
  // row, and so can whole.
  std::uint32_t split_from = 0;
  // If true and the device can do so, attend works by teams, which compute whole shares without
  // synchronisation (team_attention.wgsl). Its sums then differ from those without teams, so all
  // rows of an engine use the same kernel.
  bool by_teams = false;
  // If true, merge writes rows of f16 to binding 2, for products with subgroup matrices, and has no
  // binding 3.
  bool merged_halves = false;
};
[[nodiscard]] bool decode_attention_possible(const gpu::Device& device,
                                             const DecodeAttentionSpec& spec, const Team& team,
                                             std::uint32_t workgroup);
[[nodiscard]] std::uint64_t decode_shares_bytes(const DecodeAttentionSpec& spec,
                                                std::uint32_t rows);
[[nodiscard]] gpu::PipelineOptions decode_attention_pipeline(const DecodeAttentionSpec& spec,
                                                             const Team& team,
                                                             std::uint32_t workgroup);
// Returns the workgroups for rows that see at most `positions` positions, themselves included. 0
// means that the bound is not known. The results of the kernel do not depend on the bound.
[[nodiscard]] gpu::Workgroups decode_attention_workgroups(const DecodeAttentionSpec& spec,
                                                          const Team& team, std::uint32_t workgroup,
                                                          std::uint32_t rows,
                                                          std::uint32_t positions = 0);
[[nodiscard]] gpu::PipelineOptions merge_shares_pipeline(const DecodeAttentionSpec& spec);
[[nodiscard]] gpu::Workgroups merge_shares_workgroups(const DecodeAttentionSpec& spec,
                                                      std::uint32_t rows);

[[nodiscard]] bool whole_attention_possible(const gpu::Device& device,
                                            const DecodeAttentionSpec& spec, const Team& team,
                                            std::uint32_t workgroup);
[[nodiscard]] gpu::PipelineOptions whole_attention_pipeline(const DecodeAttentionSpec& spec,
                                                            const Team& team,
                                                            std::uint32_t workgroup);
[[nodiscard]] gpu::Workgroups whole_attention_workgroups(const DecodeAttentionSpec& spec,
                                                         std::uint32_t rows);

}  // namespace weft::kernels
