// The sequences whose last drawn tokens are in the rows of the device, so that their next tokens
// are drawn without the CPU, and what ends that: a pass of other rows, or a change to one of them.
//
// Threading: the device's thread. Lifetime: what it is made from outlives it. Invariant: while
// is_read(), the rows' tokens have gone through the layers, and their logits are there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/llm/gpu/gpu_sequences.h"
#include "engine/llm/gpu/last_hidden.h"
#include "engine/llm/gpu/row_passes.h"
#include "engine/llm/gpu/token_sampling.h"

namespace weft::llm {

class DrawnRows {
 public:
  DrawnRows(const EngineSetup& setup, GpuSequences& sequences, const LastHidden& last_hidden,
            TokenSampling& sampling, RowPasses& passes)
      : setup_(setup),
        sequences_(sequences),
        last_hidden_(last_hidden),
        sampling_(sampling),
        passes_(passes) {}

  // In the order of the rows; none where the rows were used otherwise.
  [[nodiscard]] const std::vector<SequenceId>& ids() const { return ids_; }
  void begin(std::vector<SequenceId> ids) { ids_ = std::move(ids); }
  [[nodiscard]] bool is_read() const { return is_read_; }
  void set_read(bool is_read) { is_read_ = is_read; }

  // The rows are about to be used otherwise. Final hidden states that were not drawn from are kept,
  // so that none of the rows is read again.
  void end();
  // Forgets what was drawn ahead of the sequence. A recurrent state that took it in begins from its
  // start.
  void settle(SequenceId id);
  // As Engine has them: what was drawn ahead is taken back.
  void set_sampling(SequenceId id, const Sampling& sampling);
  void set_mask(SequenceId id, std::span<const std::uint64_t> allowed);

  // The rows are those of these sequences, in whatever order, and of those that are behind.
  [[nodiscard]] bool are_of(const std::vector<SequenceId>& ids) const;
  // The next pass of the rows, behind what was fed.
  [[nodiscard]] RowCount next() const;
  // Positions that still fit behind what was fed, of all sequences in the rows, with a token to be
  // drawn behind each. Takes pages for them.
  [[nodiscard]] std::size_t room();
  // Whether the rows that these sequences draw in can be read once each of them has `ahead` tokens
  // that are drawn and not handed out.
  [[nodiscard]] bool can_be_read(const std::vector<SequenceId>& ids, std::uint32_t ahead);
  // The rows took in so many more tokens.
  void fed(std::uint32_t positions);

 private:
  // Takes back what was drawn ahead of a sequence that goes on in the same rows: the others keep
  // theirs. False if it cannot, or nothing was drawn ahead.
  [[nodiscard]] bool draw_again(SequenceId id);

  const EngineSetup& setup_;
  GpuSequences& sequences_;
  const LastHidden& last_hidden_;
  TokenSampling& sampling_;
  RowPasses& passes_;
  std::vector<SequenceId> ids_;
  bool is_read_ = false;
};

}  // namespace weft::llm
