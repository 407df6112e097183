// The draws that are under way: from their recording until their tokens are on the CPU. Several
// submits are under way at a time, so that the device never waits for the CPU to read a token. The
// hidden states that sequences keep (kept_hidden.h) are read back together with the draws that come
// from them.
//
//   draws.record(pass, ids);                    once or more: each call draws a token for all ids
//   draws.submit(std::move(encoder), ids);
//   WEFT_CO_OK(co_await draws.take_oldest());   moves the tokens into GpuSequence::ahead
//
// Threading: the device's thread. Lifetime: the parts that it is made from outlive it. Bounds:
// under_way_max.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/gpu/readback.h"
#include "engine/llm/gpu/gpu_sequences.h"
#include "engine/llm/gpu/row_passes.h"
#include "engine/llm/gpu/step_pacer.h"
#include "engine/llm/gpu/token_sampling.h"

namespace weft::llm {

class DrawsUnderWay {
 public:
  static constexpr std::size_t submits_ahead = 4;
  static constexpr std::size_t under_way_max =
      submits_ahead * StepPacer::steps_max + StepPacer::steps_max;

  DrawsUnderWay(const EngineSetup& setup, GpuSequences& sequences, TokenSampling& sampling,
                RowPasses& passes)
      : setup_(setup),
        sequences_(sequences),
        sampling_(sampling),
        passes_(passes),
        drawn_ring_(setup.device,
                    {.slots = under_way_max,
                     .slot_bytes = setup.options.sequences * TokenSampling::drawn_bytes}) {}

  // A row of the pass whose final hidden state is kept, and the number of positions that the state
  // comes after.
  struct HiddenRow {
    std::uint32_t row = 0;
    std::uint32_t length = 0;
  };
  // The rows whose hidden states are kept, if the state of row i comes after length(i) positions.
  [[nodiscard]] std::vector<HiddenRow> rows_to_keep(
      const std::vector<SequenceId>& ids,
      const std::function<std::uint32_t(std::size_t)>& length) const;
  // Allocates the readback memory for hidden states. Called before the first state is kept.
  void make_room_for_hidden();

  // record() adds one draw to a pass that is being recorded. record_hidden() then adds the copies
  // of these rows' hidden states.
  void record(gpu::Pass& pass, const std::vector<SequenceId>& ids);
  void record_hidden(gpu::Encoder& encoder, std::vector<HiddenRow> rows);
  // Submits the encoder and begins the readback of the draws that were recorded since the last
  // submit.
  void submit(gpu::Encoder encoder, const std::vector<SequenceId>& ids);
  // Waits for the oldest draw that is under way and adds its tokens to GpuSequence::ahead. It
  // leaves out the sequences that were rewound or closed after the draw.
  [[nodiscard]] Async<Result<>> take_oldest();
  // Drops the draws that are under way for the sequence's slot. Call it when the sequence closes.
  void forget(SequenceId id);

  // Draws and waits for the tokens at once, beside the draws that are under way. `encoder` ends
  // with the logits of `ids`. Call it only if can_draw_at_once() is true, because other draws may
  // use all readback slots.
  [[nodiscard]] bool can_draw_at_once() const { return drawn_ring_.free_slots() > 0; }
  [[nodiscard]] Async<Result<std::vector<Drawn>>> draw_at_once(gpu::Encoder encoder,
                                                               std::vector<SequenceId> ids);

  [[nodiscard]] std::size_t size() const { return under_way_.size(); }
  // The number of draws that go into one submit.
  [[nodiscard]] std::size_t steps() const { return pacer_.steps(); }

 private:
  // A draw that was recorded and is not submitted yet.
  struct Recorded {
    std::uint32_t step = 0;  // The number of the sampler's step for the draw.
    std::vector<HiddenRow> rows{};
    std::optional<gpu::Readback> hidden{};
  };
  struct UnderWay {
    gpu::Readback read;
    std::vector<SequenceId> sequences;
    std::vector<std::uint64_t> epochs;
    std::vector<HiddenRow> rows{};  // The rows whose states are in `hidden`, in order.
    std::optional<gpu::Readback> hidden{};
  };

  const EngineSetup& setup_;
  GpuSequences& sequences_;
  TokenSampling& sampling_;
  RowPasses& passes_;
  gpu::ReadbackRing drawn_ring_;
  std::unique_ptr<gpu::ReadbackRing> hidden_ring_;
  std::vector<Recorded> recorded_;
  std::deque<UnderWay> under_way_;  // The submits that are under way, the oldest first.
  StepPacer pacer_;
};

}  // namespace weft::llm
