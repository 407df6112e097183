// What is between the layers of a model on the device: the rows of a pass and the numbers that they
// have become so far.
#pragma once

#include <cstdint>
#include <span>

#include "engine/gpu/device.h"
#include "engine/kernels/batch.h"
#include "engine/llm/engine.h"

namespace weft::llm {

// Positions of a page of the cache. Where many sequences begin the same way they share whole pages;
// of the last one half is empty on average.
inline constexpr std::uint32_t kv_page_positions = 64;

// Sizes in numbers a row; see activations().
struct RowShape {
  std::uint32_t rows = 0;       // Rows of a pass, at most.
  std::uint32_t embedding = 0;  //
  // Queries, keys and values, or what a DeltaNet projects; the widest of both.
  std::uint32_t projected = 0;
  std::uint32_t convolved = 0;  // 0 without DeltaNet layers.
  std::uint32_t mixed = 0;      // What goes into a mixer's output matrix.
  std::uint32_t feed_forward = 0;
  std::uint32_t experts = 0, experts_used = 0;  // 0 without a mixture of experts.
  std::uint32_t vocabulary = 0;                 // 0 for an engine without the last layer.
  std::uint32_t logits_rows = 0;                // Rows that get logits in one pass.
  std::uint32_t drawn_rows = 0;                 // Rows of a pass that draws, other than in f32.
  // Rows of a tile of attention (engine/kernels/prefill/flash_attention.h).
  std::uint32_t tile_rows = 32;
  std::uint64_t shares = 0;  // What their attention gathers, in numbers a row.
  // Bytes of partial sums of products, at most.
  std::uint64_t partials_max = ~std::uint64_t{0};
  std::uint32_t pages = 0;        // Pages of the cache, for all sequences.
  std::uint32_t table_pages = 0;  // A sequence's places in the page table.
};
[[nodiscard]] RowShape row_shape(const Config& config, const EngineOptions& options,
                                 std::uint32_t rows, std::uint32_t splits);

struct RowBuffers {
  RowBuffers(gpu::Device& device, const RowShape& shape);

  RowShape shape;
  // The rows of the pass (engine/kernels/batch.h): written by the CPU, and while drawing by the GPU
  // itself. Behind the places stands the page table, [sequence][page] of u32.
  gpu::Buffer tokens, places, segments, tiles, batch;
  gpu::Buffer partials;  // Partial sums of products that are summed in parts.
  gpu::Buffer hidden, normed, projected, convolved, mixed, core, gates, gated;
  gpu::Buffer expert_scores, expert_choice;  // A row's: a number an expert, a ChosenExpert a place.
  // Rows with int8 activations (engine/kernels/decode), one a sequence.
  gpu::Buffer normed_quants, normed_scales, normed_factors, mixed_quants, mixed_scales,
      gated_quants, gated_scales, shares;
  gpu::Buffer logits;
  gpu::Buffer none;  // For bindings that a kernel does not use.

  void write_rows(gpu::Device& device, std::span<const kernels::RowPlace> row_places,
                  std::span<const kernels::Segment> row_segments) const;
  // Which pages hold the sequence's positions.
  void write_table(gpu::Device& device, std::uint32_t slot,
                   std::span<const std::uint32_t> slot_pages) const;
  void write_tokens(gpu::Device& device, std::span<const Token> row_tokens) const;
  // One row of a pass whose other rows stay as they are.
  void write_row(gpu::Device& device, std::uint32_t row, const kernels::RowPlace& place,
                 Token token) const;
};

}  // namespace weft::llm
