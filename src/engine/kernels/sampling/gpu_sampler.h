// Draws tokens on the GPU without a round trip to the CPU: the token is written to the buffer that
// the next step's embedding reads, the row's position is increased, and results are collected in a
// ring that is read some steps later.
//
//   WEFT_CO_ASSIGN(const auto sampler, co_await GpuSampler::create(
//                      device, {.vocabulary = 32000, .rows = 4, .slots = 4, .steps = 64}));
//   const GpuSampler::Rows rows = sampler->bind(logits, tokens, places);
//   sampler->set_sampling(slot, {.temperature = 0.8f, .top_p = 0.95f, .seed = 7});
//   sampler->remember(slot, 0, prompt);                      // The tokens that penalties look at.
//   { Pass pass = ...; model...; step = sampler->record(pass, rows, slots); }
//   encoder.copy(sampler->drawn(), sampler->drawn_offset(step), staging, 0,
//                slots.size() * sizeof(GpuDrawn));
//
// The sampler follows the rules of llm::Sampler. A seed gives the same tokens as in llm::Sampler,
// up to rounding (see draw.h). Threading: the device's thread. Lifetime: the device outlives the
// sampler.
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

// A copy of llm::Sampling, because the kernels do not include the code above them.
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
    std::uint32_t rows = 1;    // The most rows that are drawn together.
    std::uint32_t slots = 1;   // The number of sequences, each with its sampling and history.
    std::uint32_t steps = 64;  // The number of steps whose results are kept; a power of two.
    bool later = false;        // If true, prepare() compiles the kernels that not every draw needs.
  };
  // The bound buffers of one set of rows.
  struct Rows {
    gpu::BindGroup group;
  };

  // Creates a sampler. Fails with invalid_argument for a vocabulary or a number of rows beyond the
  // device's limits.
  [[nodiscard]] static Async<Result<std::unique_ptr<GpuSampler>>> create(gpu::Device& device,
                                                                         Options options);
  GpuSampler(const GpuSampler&) = delete;

  // Binds the buffers of a set of rows. logits: f32 [row][vocabulary]; tokens: u32 [row]; places:
  // [row] of RowPlace. The buffers outlive the result.
  [[nodiscard]] Rows bind(const gpu::Buffer& logits, const gpu::Buffer& tokens,
                          const gpu::Buffer& places);

  // Sets the sampling of the draws that are recorded from now on; earlier recordings must have been
  // submitted. A new slot draws the best token.
  void set_sampling(std::uint32_t slot, const RowSampling& sampling);
  // Sets the mask of the tokens that the slot may draw from now on: one bit for each token,
  // beginning with the lowest bit of the first word, or no words for all tokens. A slot with top_k,
  // top_p or min_p has no mask.
  void set_mask(std::uint32_t slot, std::span<const std::uint64_t> allowed);
  // Writes the tokens at positions [position, position + tokens.size()) to the history. Call it for
  // prompts. Call it also after a sequence has been rewound by more than draw_history less the
  // penalty window, for the tokens in that window. A draw writes the drawn token to the history by
  // itself.
  void remember(std::uint32_t slot, std::uint32_t position, std::span<const std::uint32_t> tokens);

  // Compiles the kernels that a draw of these slots needs. If Options::later is set, call it before
  // record().
  [[nodiscard]] Async<Result<>> prepare(std::vector<std::uint32_t> slots);
  // Records one draw; slots[row] is the slot in places[row]. Returns the number of its step,
  // beginning with 0. Every recorded pass must be submitted, in order.
  std::uint32_t record(gpu::Pass& pass, const Rows& rows, std::span<const std::uint32_t> slots);
  // The number of dispatches that record() adds for these slots: 2, or 3 if a slot has penalties.
  [[nodiscard]] std::uint32_t dispatches(std::span<const std::uint32_t> slots) const;

  // The ring of results: [step % steps][row] of GpuDrawn.
  [[nodiscard]] const gpu::Buffer& drawn() const { return drawn_; }
  [[nodiscard]] std::uint64_t drawn_offset(std::uint32_t step) const;
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] std::uint64_t buffer_bytes() const;

 private:
  GpuSampler(gpu::Device& device, Options options) : device_(device), options_(options) {}

  // A flag for compile() that asks for the draw from all tokens; DrawSettings::flags does not use
  // this bit.
  static constexpr std::uint32_t any_draw = 1u << 31;
  [[nodiscard]] Async<Result<>> compile(std::uint32_t flags);
  [[nodiscard]] std::uint32_t flags_of(std::span<const std::uint32_t> slots) const;

  gpu::Device& device_;
  const Options options_;
  std::vector<DrawSettings> settings_of_;  // The index is the slot.
  std::uint32_t step_ = 0;
  gpu::Buffer settings_, scratch_, history_, drawn_, steps_;
  gpu::Pipeline count_, tiles_, pick_, pick_restricted_;
};

}  // namespace weft::kernels
