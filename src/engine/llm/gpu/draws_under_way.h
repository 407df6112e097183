// Draws from their recording until their tokens are on the CPU: several submits are under way at a
// time, so that the device never waits for the CPU to read a token. Hidden states that sequences
// keep (kept_hidden.h) come back with the draws from them.
//
//   draws.record(pass, ids);               once or more, each the next token of all of them
//   draws.submit(std::move(encoder), ids);
//   WEFT_CO_OK(co_await draws.take_oldest());   into GpuSequence::ahead
//
// Threading: the device's thread. Lifetime: what it is made from outlives it. Bounds:
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

  // A row of the pass whose final hidden state is kept: which of its sequences, and behind how many
  // positions.
  struct HiddenRow {
    std::uint32_t row = 0;
    std::uint32_t length = 0;
  };
  // Which rows those are, where row i's state is the one behind length(i) positions.
  [[nodiscard]] std::vector<HiddenRow> rows_to_keep(
      const std::vector<SequenceId>& ids,
      const std::function<std::uint32_t(std::size_t)>& length) const;
  // Memory for their states; before the first is kept.
  void make_room_for_hidden();

  // One draw of a pass that is being recorded; behind it, copies of the hidden states of these
  // rows.
  void record(gpu::Pass& pass, const std::vector<SequenceId>& ids);
  void record_hidden(gpu::Encoder& encoder, std::vector<HiddenRow> rows);
  // What was drawn since the last submit goes on its way back.
  void submit(gpu::Encoder encoder, const std::vector<SequenceId>& ids);
  // Waits for the oldest draw that is under way. What it drew is ahead of its sequences, where it
  // still counts.
  [[nodiscard]] Async<Result<>> take_oldest();
  // The sequence is closed: what is under way for its slot is not taken.
  void forget(SequenceId id);

  // A draw that is waited for at once, beside those under way; `encoder` ends with their logits.
  // Only where can_draw_at_once(): others' may take all room for what comes back.
  [[nodiscard]] bool can_draw_at_once() const { return drawn_ring_.free_slots() > 0; }
  [[nodiscard]] Async<Result<std::vector<Drawn>>> draw_at_once(gpu::Encoder encoder,
                                                               std::vector<SequenceId> ids);

  [[nodiscard]] std::size_t size() const { return under_way_.size(); }
  // How many draws go into one submit.
  [[nodiscard]] std::size_t steps() const { return pacer_.steps(); }

 private:
  // A draw that was recorded and not yet submitted.
  struct Recorded {
    std::uint32_t step = 0;  // Number of the sampler's step.
    std::vector<HiddenRow> rows{};
    std::optional<gpu::Readback> hidden{};
  };
  struct UnderWay {
    gpu::Readback read;
    std::vector<SequenceId> sequences;
    std::vector<std::uint64_t> epochs;
    std::vector<HiddenRow> rows{};  // Whose hidden states are in `hidden`, one behind the other.
    std::optional<gpu::Readback> hidden{};
  };

  const EngineSetup& setup_;
  GpuSequences& sequences_;
  TokenSampling& sampling_;
  RowPasses& passes_;
  gpu::ReadbackRing drawn_ring_;
  std::unique_ptr<gpu::ReadbackRing> hidden_ring_;
  std::vector<Recorded> recorded_;
  std::deque<UnderWay> under_way_;  // Oldest first.
  StepPacer pacer_;
};

}  // namespace weft::llm
