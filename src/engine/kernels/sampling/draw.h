// The dispatches that draw the next token of every row of logits, with the rules of llm/sampler.h:
// penalties, top_k, top_p, min_p, temperature. gpu_sampler.h records them.
//
//   draw_count   a workgroup a row, if a row has penalties: counts how often each token is in the
//                window
//   draw_tiles   (tiles, rows): finds the best token of each tile, by logit or by
//                logit / temperature + Gumbel noise
//   draw_pick    a workgroup a row: finds the best token of the tiles. A restricted row is cut by
//                top_k, top_p and min_p, and its token is drawn from the rest
//
// All dispatches have the same bindings of group 0: 0 logits (read, f32 [row][vocabulary]), 1
// settings (read, [slot] of DrawSettings), 2 scratch (DrawLayout), 3 history (u32
// [slot][draw_slot_words]: the token at position p is at p % draw_history, and the mask follows the
// tokens), 4 tokens (u32 [row]), 5 places ([row] of RowPlace: the slot, and the position of the
// token whose logits the row has), 6 drawn ([step % steps][row] of GpuDrawn), 7 steps (u32, the
// number of draws so far). draw_pick writes the drawn token to bindings 3, 4 and 6 and increases
// the row's position, so that the next step can follow at once.
//
// Exactness: without penalties, top_k and min_p keep the same tokens as on the CPU. The masses of
// top_p are f32 exponentials: the cut may fall differently among tokens whose cumulative
// probability is within 4e-6 of top_p. Scores are f32 sums of a quotient and noise, within some
// units in the last place of the CPU's scores. Logits that are NaN or -infinity are impossible; the
// lowest float also counts as impossible.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"

namespace weft::kernels {

// The number of a slot's last positions that are kept; twice the longest penalty window.
inline constexpr std::uint32_t draw_history = 8192;
// The words of a slot: its history, then one bit for each token, which is 1 if it may be drawn.
[[nodiscard]] constexpr std::uint32_t draw_slot_words(std::uint32_t vocabulary) {
  return draw_history + (vocabulary + 31) / 32;
}
inline constexpr std::uint32_t draw_tile = 2048;
// The largest vocabulary for which sums of masses fit into 64 bits.
inline constexpr std::uint32_t draw_vocabulary_max = 1u << 20;

struct DrawSpec {
  std::uint32_t vocabulary = 0;
  std::uint32_t rows = 1;   // The most rows in one draw.
  std::uint32_t steps = 1;  // The steps in the ring of results; a power of two.
};

// A drawn token and the natural logarithm of its probability, computed from the raw logits.
struct GpuDrawn {
  std::uint32_t token = 0;
  float logprob = 0;
};

// The sampling settings of a slot, in the layout of the shaders.
struct DrawSettings {
  // The bits of a row's flags. A restricted row does not use a mask.
  enum Flags : std::uint32_t { penalized = 1, restricted = 2, noisy = 4, masked = 8 };

  float temperature = 0;
  std::uint32_t top_k = 0;
  float top_p = 1;
  float log_min_p = -3.4028234e38f;  // The lowest float switches min_p off.
  float repetition_penalty = 1;
  float presence_penalty = 0;
  float frequency_penalty = 0;
  std::uint32_t penalty_window = 0;
  std::uint32_t seed_low = 0;
  std::uint32_t seed_high = 0;
  std::uint32_t flags = 0;
  std::uint32_t unused = 0;
};

// Offsets in the scratch memory, in words of 4 bytes. Counts are zero before and after a draw.
struct DrawLayout {
  explicit DrawLayout(const DrawSpec& spec);

  std::uint32_t tiles = 0;   // The number of tiles of a row.
  std::uint32_t groups = 0;  // The number of groups of 64 tokens of a row.
  std::uint64_t bests = 0;   // The shape is [row][tile] of 5 words.
  std::uint64_t highs = 0;   // The shape is [row][group].
  std::uint64_t hot = 0;     // The shape is [row][group].
  std::uint64_t counts = 0;  // The shape is [row][vocabulary].
  std::uint64_t list = 0;    // The shape is [row][vocabulary] of 2 words.
  std::uint64_t words = 0;
};

[[nodiscard]] gpu::PipelineOptions draw_count_pipeline(const DrawSpec& spec);
[[nodiscard]] gpu::PipelineOptions draw_tiles_pipeline(const DrawSpec& spec);
// The pipeline of draw_pick, in workgroups of `threads`, a power of two. With `restricted`, rows
// may have top_k, top_p and min_p.
[[nodiscard]] gpu::PipelineOptions draw_pick_pipeline(const DrawSpec& spec, bool restricted,
                                                      std::uint32_t threads);

}  // namespace weft::kernels
