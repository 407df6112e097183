// The dispatches that draw the next token of every row of logits, with the rules of llm/sampler.h:
// penalties, top_k, top_p, min_p, temperature. gpu_sampler.h records them; this is what they are
// made of.
//
//   draw_count   where a row has penalties     how often each token occurs in its window
//   draw_tiles   (tiles, rows)                 the best of each tile, by logit or by logit /
//   temperature + Gumbel noise draw_pick    a workgroup a row             the best of the tiles;
//   restricted rows are cut by top_k, top_p and min_p, and drawn here
//
// Group 0 of all: 0 logits (read, f32 [row][vocabulary]), 1 settings (read, [slot] of
// DrawSettings), 2 scratch (DrawLayout), 3 history (u32 [slot][draw_slot_words]: the token at
// position p stands at p % draw_history, the mask behind them), 4 tokens (u32 [row]), 5 places
// ([row] of RowPlace: the slot, and the position of the token whose logits these are), 6 drawn
// ([step % steps][row] of GpuDrawn), 7 steps (u32, the draws so far). draw_pick writes the drawn
// token to 3, 4 and 6 and raises the row's position, so that the next step can follow at once.
//
// Exactness: without penalties top_k and min_p keep what the CPU keeps. Masses of top_p are f32
// exponentials: the cut may fall on the other side of tokens whose cumulative probability is within
// 4e-6 of top_p. Scores are f32 sums of a quotient and noise within some units in the last place of
// the CPU's. Logits that are NaN or -infinity are impossible; the lowest float counts as impossible
// too.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"

namespace weft::kernels {

inline constexpr std::uint32_t draw_history =
    8192;  // Positions of a slot that are kept; twice the longest penalty window.
// Words of a slot: its history, then a bit for each token that may be drawn.
[[nodiscard]] constexpr std::uint32_t draw_slot_words(std::uint32_t vocabulary) {
  return draw_history + (vocabulary + 31) / 32;
}
inline constexpr std::uint32_t draw_tile = 2048;
inline constexpr std::uint32_t draw_vocabulary_max = 1u << 20;  // Sums of masses fit into 64 bits.

struct DrawSpec {
  std::uint32_t vocabulary = 0;
  std::uint32_t rows = 1;   // Rows in one draw, at most.
  std::uint32_t steps = 1;  // Slots in the ring of results; a power of two.
};

// A drawn token and the natural logarithm of its probability by the raw logits.
struct GpuDrawn {
  std::uint32_t token = 0;
  float logprob = 0;
};

// How a slot draws, as the shaders see it.
struct DrawSettings {
  // Masks do not hold for restricted rows.
  enum Flags : std::uint32_t { penalized = 1, restricted = 2, noisy = 4, masked = 8 };

  float temperature = 0;
  std::uint32_t top_k = 0;
  float top_p = 1;
  float log_min_p = -3.4028234e38f;  // The lowest float: off.
  float repetition_penalty = 1;
  float presence_penalty = 0;
  float frequency_penalty = 0;
  std::uint32_t penalty_window = 0;
  std::uint32_t seed_low = 0;
  std::uint32_t seed_high = 0;
  std::uint32_t flags = 0;
  std::uint32_t unused = 0;
};

// Scratch memory, in words of 4 bytes. Counts are zero before and after a draw.
struct DrawLayout {
  explicit DrawLayout(const DrawSpec& spec);

  std::uint32_t tiles = 0;   // Tiles of a row.
  std::uint32_t groups = 0;  // Groups of a row: 64 tokens each.
  std::uint64_t bests = 0;   // [row][tile] of 5 words.
  std::uint64_t highs = 0;   // [row][group]
  std::uint64_t hot = 0;     // [row][group]
  std::uint64_t counts = 0;  // [row][vocabulary]
  std::uint64_t list = 0;    // [row][vocabulary] of 2 words.
  std::uint64_t words = 0;
};

[[nodiscard]] gpu::PipelineOptions draw_count_pipeline(const DrawSpec& spec);
[[nodiscard]] gpu::PipelineOptions draw_tiles_pipeline(const DrawSpec& spec);
// With `restricted` rows may have top_k, top_p and min_p. Workgroups of `threads`, a power of two.
[[nodiscard]] gpu::PipelineOptions draw_pick_pipeline(const DrawSpec& spec, bool restricted,
                                                      std::uint32_t threads);

}  // namespace weft::kernels
