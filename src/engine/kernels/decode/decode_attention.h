// Attention of single rows (each the newest of its sequence), in two dispatches for long contexts
// and one for short ones.
//
// attend: norms and turns queries and keys as rotary.h does, attends to what the sequence remembers
// and to the row itself, and puts the row's key and value into the cache. The positions are shared
// out over at most `splits` workgroups for every key head (flash decoding: Dao, Haziza, Massa,
// Sizov 2023), each with an online softmax of its own.
//   Group 0: 0 qkv (read, rows of `pitch`), 1 RowPlace for each row (read), 2 turns (read:
//   [position][pairs] of cosine and sine), 3 norms of queries and keys, one behind the other (read;
//   any buffer without), 4 keys, 5 values, 6 shares ([row][head][splits + 1][head_dim / 4 + 1] of
//   vec4f: the last is the row's own).
// merge: puts the shares together, gates them where the model does, and rounds them for
// int8_product.h.
//   Group 0: 0 shares (read), 1 qkv (read), 2 quants, 3 scales: rows of heads * head_dim,
//   4 RowPlace for each row (read).
// whole: both, by one workgroup for every query head.
//   Group 0: 0 to 5 as attend, 6 quants, 7 scales.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"
#include "engine/kernels/attention.h"
#include "engine/kernels/rotary.h"

namespace weft::kernels {

struct DecodeAttentionSpec {
  RotarySpec rotary;  // heads, cache and how they turn.
  bool gated = false;
  AttentionView view{};
  std::uint32_t splits = 1;      // Workgroups for a key head, at most.
  std::uint32_t share_min = 64;  // Positions for each of them, at least.
  // Rows that see so many positions, themselves included, are attend's and merge's, others whole's:
  // a row's sums are in the order that its own position gives, whatever other rows are in the pass.
  // 0: each does all rows.
  std::uint32_t split_from = 0;
  // attend by teams that take whole shares and do not meet (team_attention.wgsl), where the device
  // can: other sums than without, so all rows of an engine go one way.
  bool by_teams = false;
  // merge's rows are f16 instead, for products with subgroup matrices: 2 is their binding, and
  // there is no 3.
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
// For rows that see at most so many positions, themselves included (0: not known). Numbers are the
// same for any bound.
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
