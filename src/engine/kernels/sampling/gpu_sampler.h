// Draws tokens on the GPU without the CPU in between: the token goes into the buffer that the next
// step's embedding reads, the row's position goes up, and results gather in a ring that is read
// some steps later.
//
//   WEFT_CO_ASSIGN(const auto sampler, co_await GpuSampler::create(device, {.vocabulary = 32000,
//   .rows = 4, .slots = 4, .steps = 64})); const GpuSampler::Rows rows = sampler->bind(logits,
//   tokens, places); sampler->set_sampling(slot, {.temperature = 0.8f, .top_p = 0.95f, .seed = 7});
//   sampler->remember(slot, 0, prompt);                      // What penalties look back at.
//   { Pass pass = ...; model...; step = sampler->record(pass, rows, slots); }
//   encoder.copy(sampler->drawn(), sampler->drawn_offset(step), staging, 0, slots.size() *
//   sizeof(GpuDrawn));
//
// The same rules as llm::Sampler, and the same tokens for the same seed, up to rounding (see
// draw.h). Threading: the device's thread. Lifetime: the device outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/base/async.h"
#include "common/base/result.h"
#include "engine/gpu/device.h"
#include "engine/kernels/sampling/draw.h"

namespace weft::kernels {

// llm::Sampling, which stands above the kernels.
struct RowSampling {
  float temperature = 0;
  std::uint32_t top_k = 0;
  float top_p = 1;
  float min_p = 0;
  float repetition_penalty = 1;
  float presence_penalty = 0;
  float frequency_penalty = 0;
  std::uint32_t penalty_window = 64;
  std::uint64_t seed = 0;
};
[[nodiscard]] DrawSettings draw_settings(const RowSampling& sampling, std::uint32_t vocabulary);

class GpuSampler {
 public:
  struct Options {
    std::uint32_t vocabulary = 0;
    std::uint32_t rows = 1;    // Drawn together at most.
    std::uint32_t slots = 1;   // Sequences, each with its sampling and its history.
    std::uint32_t steps = 64;  // Results that are kept; a power of two.
    bool later = false;        // Kernels that not every draw needs are compiled by prepare().
  };
  // The buffers of one set of rows, bound.
  struct Rows {
    gpu::BindGroup group;
  };

  // invalid_argument for a vocabulary or a number of rows that does not fit into the device's
  // limits.
  [[nodiscard]] static Async<Result<std::unique_ptr<GpuSampler>>> create(gpu::Device& device,
                                                                         Options options);
  GpuSampler(const GpuSampler&) = delete;

  // logits: f32 [row][vocabulary]; tokens: u32 [row]; places: [row] of RowPlace. All outlive what
  // is returned.
  [[nodiscard]] Rows bind(const gpu::Buffer& logits, const gpu::Buffer& tokens,
                          const gpu::Buffer& places);

  // For the draws that are recorded from now on; what was recorded is submitted before. Every slot
  // begins with the best token.
  void set_sampling(std::uint32_t slot, const RowSampling& sampling);
  // A bit for each token that the slot may draw from now on, from the lowest of the first word;
  // none for all of them. One that draws with top_k, top_p or min_p has none.
  void set_mask(std::uint32_t slot, std::span<const std::uint64_t> allowed);
  // The tokens at positions [position, position + tokens.size()): of prompts, and again of what
  // lies in the penalty window after going back by more than draw_history less that window. Drawn
  // tokens are remembered by the draw.
  void remember(std::uint32_t slot, std::uint32_t position, std::span<const std::uint32_t> tokens);

  // Before record(), with Options::later: compiles what a draw of these slots needs.
  [[nodiscard]] Async<Result<>> prepare(std::vector<std::uint32_t> slots);
  // Records one draw; slots[row] is the one that places[row] names. Returns the number of its step,
  // from 0. Every pass that was recorded is submitted, in order.
  std::uint32_t record(gpu::Pass& pass, const Rows& rows, std::span<const std::uint32_t> slots);
  // What record() records for these slots: 2 for the best token or a draw from all, 3 where one has
  // penalties.
  [[nodiscard]] std::uint32_t dispatches(std::span<const std::uint32_t> slots) const;

  // [step % steps][row] of GpuDrawn.
  [[nodiscard]] const gpu::Buffer& drawn() const { return drawn_; }
  [[nodiscard]] std::uint64_t drawn_offset(std::uint32_t step) const;
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] std::uint64_t buffer_bytes() const;

 private:
  GpuSampler(gpu::Device& device, Options options) : device_(device), options_(options) {}

  // In compile(): a draw from all tokens. A bit that no DrawSettings::flags has.
  static constexpr std::uint32_t any_draw = 1u << 31;
  [[nodiscard]] Async<Result<>> compile(std::uint32_t flags);
  [[nodiscard]] std::uint32_t flags_of(std::span<const std::uint32_t> slots) const;

  gpu::Device& device_;
  const Options options_;
  std::vector<DrawSettings> settings_of_;  // [slot]
  std::uint32_t step_ = 0;
  gpu::Buffer settings_, scratch_, history_, drawn_, steps_;
  gpu::Pipeline count_, tiles_, pick_, pick_restricted_;
};

}  // namespace weft::kernels
