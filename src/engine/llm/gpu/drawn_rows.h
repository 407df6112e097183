// The sequences whose last drawn tokens are in the rows of the device, so that their next tokens
// are drawn without the CPU. The rows become invalid with a pass of other rows or with a change to
// one of the sequences.
//
// Threading: the device's thread. Lifetime: the parts that it is made from outlive it. Invariant:
// while is_read(), the rows' tokens have gone through the layers and the rows' logits are computed.
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

  // The sequences in the order of the rows; empty if the rows are used for something else.
  [[nodiscard]] const std::vector<SequenceId>& ids() const { return ids_; }
  void begin(std::vector<SequenceId> ids) { ids_ = std::move(ids); }
  [[nodiscard]] bool is_read() const { return is_read_; }
  void set_read(bool is_read) { is_read_ = is_read; }

  // Ends the rows, before other rows are written. Final hidden states that no token was drawn from
  // are saved in LastHidden, so that no row has to be read again.
  void end();
  // Forgets the tokens that were drawn ahead of the sequence. If a recurrent state has read some of
  // them, the sequence is read again from its start.
  void settle(SequenceId id);
  // The methods of Engine with these names. They take back the tokens that were drawn ahead.
  void set_sampling(SequenceId id, const Sampling& sampling);
  void set_mask(SequenceId id, std::span<const std::uint64_t> allowed);

  // True if the rows are those of the sequences `ids`, in any order, and perhaps of sequences that
  // are `behind`.
  [[nodiscard]] bool are_of(const std::vector<SequenceId>& ids) const;
  // The shape of the next pass of the rows, after the positions that they have read.
  [[nodiscard]] RowCount next() const;
  // The number of further positions for which every sequence in the rows has pages and context,
  // with a token to be drawn after each. Takes pages for a few of them.
  [[nodiscard]] std::size_t room();
  // True if the rows are those of `ids` and can be read as soon as each of these sequences has
  // `ahead` tokens that are drawn and not yet handed out.
  [[nodiscard]] bool can_be_read(const std::vector<SequenceId>& ids, std::uint32_t ahead);
  // Counts `positions` more positions as read by every sequence in the rows.
  void fed(std::uint32_t positions);

 private:
  // Takes back the tokens that were drawn ahead for one sequence, which stays in the same rows. The
  // other sequences keep their tokens. Returns false if that is not possible.
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
