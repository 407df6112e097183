// Tokens through the layers, one sequence at a time: prompts in as few passes as there are rows
// for, and whatever a sequence was given and the device has not read yet.
//
// Threading: the device's thread. Lifetime: what it is made from outlives it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/llm/gpu/drawn_rows.h"
#include "engine/llm/gpu/gpu_sequences.h"
#include "engine/llm/gpu/last_hidden.h"
#include "engine/llm/gpu/row_passes.h"

namespace weft::llm {

class PromptReader {
 public:
  PromptReader(const EngineSetup& setup, GpuSequences& sequences, const LastHidden& last_hidden,
               DrawnRows& drawn_rows, RowPasses& passes)
      : setup_(setup),
        sequences_(sequences),
        last_hidden_(last_hidden),
        drawn_rows_(drawn_rows),
        passes_(passes) {}

  // invalid_argument for a number that is no token.
  [[nodiscard]] Result<> check_tokens(std::span<const Token> tokens) const;
  // As Engine::append() has it.
  [[nodiscard]] Async<Result<>> append(SequenceId id, std::vector<Token> tokens);

  // Everything that was handed in goes through the layers; what comes out of the last rows can be
  // recorded along with them. Its kernels are compiled before (RowPasses::prepare_run()).
  using Record = std::function<void(gpu::Encoder&, std::uint32_t rows)>;
  void feed(SequenceId id, const Record& record = {});
  // Where all of it is read and LastHidden does not have the state behind it, the last position is
  // to be read again.
  void read_last_again(GpuSequence& sequence) const;
  // ensure_hidden() leaves the final hidden state of the last position in LastHidden. The kernels
  // that it needs are compiled by prepare_hidden(), which is called before it.
  [[nodiscard]] Async<Result<>> prepare_hidden(SequenceId id);
  void ensure_hidden(SequenceId id);

 private:
  [[nodiscard]] static bool lacks_hidden(const GpuSequence& sequence) {
    return sequence.fed == sequence.length && sequence.hidden_at != sequence.length;
  }
  // Nothing is drawn ahead of the sequence, and rows that were read have left their hidden states.
  void settle_rows(SequenceId id);

  const EngineSetup& setup_;
  GpuSequences& sequences_;
  const LastHidden& last_hidden_;
  DrawnRows& drawn_rows_;
  RowPasses& passes_;
};

}  // namespace weft::llm
