// The buffers between the layers of a model on the device: the rows of a pass and their
// intermediate results.
#pragma once

#include <cstdint>
#include <span>

#include "engine/gpu/device.h"
#include "engine/kernels/batch.h"
#include "engine/llm/engine.h"

namespace weft::llm {

// The number of positions in a page of the cache. Sequences with the same beginning share whole
// pages. On average, half of a sequence's last page is empty.
inline constexpr std::uint32_t kv_page_positions = 64;

// Sizes of the rows' buffers, in numbers for each row unless a comment says otherwise.
struct RowShape {
  std::uint32_t rows = 0;       // The most rows that a pass has.
  std::uint32_t embedding = 0;  //
  // The larger of queries, keys and values together, and of a DeltaNet's projections.
  std::uint32_t projected = 0;
  std::uint32_t convolved = 0;  // 0 if the model has no DeltaNet layers.
  std::uint32_t mixed = 0;      // The input of a mixer's output matrix.
  std::uint32_t feed_forward = 0;
  std::uint32_t experts = 0, experts_used = 0;  // 0 if the model has no experts.
  std::uint32_t vocabulary = 0;                 // 0 for an engine without the last layer.
  std::uint32_t logits_rows = 0;                // The most rows that get logits in one pass.
  std::uint32_t drawn_rows = 0;  // The most rows of a pass that draws; 0 with f32 activations.
  // The number of rows in a tile of attention (engine/kernels/prefill/flash_attention.h).
  std::uint32_t tile_rows = 32;
  std::uint64_t shares = 0;  // Partial results of the drawn rows' attention.
  // The most bytes for partial sums of products.
  std::uint64_t partials_max = ~std::uint64_t{0};
  std::uint32_t pages = 0;        // The number of pages in the cache, for all sequences.
  std::uint32_t table_pages = 0;  // The number of a sequence's entries in the page table.
};
[[nodiscard]] RowShape row_shape(const Config& config, const EngineOptions& options,
                                 std::uint32_t rows, std::uint32_t splits);

struct RowBuffers {
  RowBuffers(gpu::Device& device, const RowShape& shape);

  RowShape shape;
  // The rows of the pass (engine/kernels/batch.h), written by the CPU and, while drawing, by the
  // GPU. `places` is followed by the page table, [sequence][page] of u32.
  gpu::Buffer tokens, places, segments, tiles, batch;
  gpu::Buffer partials;  // The partial sums of products.
  gpu::Buffer hidden, normed, projected, convolved, mixed, core, gates, gated;
  // The scores of all experts, and one ChosenExpert for each used expert, for each row.
  gpu::Buffer expert_scores, expert_choice;
  // Rows with int8 activations (engine/kernels/decode), one for each sequence.
  gpu::Buffer normed_quants, normed_scales, normed_factors, mixed_quants, mixed_scales,
      gated_quants, gated_scales, shares;
  gpu::Buffer logits;
  gpu::Buffer none;  // Bound if a kernel does not use a binding.

  void write_rows(gpu::Device& device, std::span<const kernels::RowPlace> row_places,
                  std::span<const kernels::Segment> row_segments) const;
  // Writes the numbers of the pages that hold the sequence's positions.
  void write_table(gpu::Device& device, std::uint32_t slot,
                   std::span<const std::uint32_t> slot_pages) const;
  void write_tokens(gpu::Device& device, std::span<const Token> row_tokens) const;
  // Writes one row of a pass, whose other rows do not change.
  void write_row(gpu::Device& device, std::uint32_t row, const kernels::RowPlace& place,
                 Token token) const;
};

}  // namespace weft::llm
