// Takes tokens through the layers, one sequence at a time: the tokens of prompts, in as few passes
// as the number of rows in a pass allows, and all other tokens of a sequence that the device has
// not read yet.
//
// Threading: the device's thread. Lifetime: the parts that it is made from outlive it.
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

  // Fails with invalid_argument for a number that is not a token.
  [[nodiscard]] Result<> check_tokens(std::span<const Token> tokens) const;
  // Appends tokens as Engine::append() does.
  [[nodiscard]] Async<Result<>> append(SequenceId id, std::vector<Token> tokens);

  // Takes all tokens of the sequence that are not read yet through the layers. `record` can add
  // commands after the rows of each pass. The kernels must be compiled (RowPasses::prepare_run()).
  using Record = std::function<void(gpu::Encoder&, std::uint32_t rows)>;
  void feed(SequenceId id, const Record& record = {});
  // Marks the last position as not read if the whole sequence is read and LastHidden does not have
  // the state after it.
  void read_last_again(GpuSequence& sequence) const;
  // ensure_hidden() leaves the final hidden state of the last position in LastHidden. The caller
  // first calls prepare_hidden(), which compiles the kernels that ensure_hidden() needs.
  [[nodiscard]] Async<Result<>> prepare_hidden(SequenceId id);
  void ensure_hidden(SequenceId id);

 private:
  [[nodiscard]] static bool lacks_hidden(const GpuSequence& sequence) {
    return sequence.fed == sequence.length && sequence.hidden_at != sequence.length;
  }
  // Forgets the tokens that were drawn ahead of the sequence, and saves the hidden states of rows
  // that were read.
  void settle_rows(SequenceId id);

  const EngineSetup& setup_;
  GpuSequences& sequences_;
  const LastHidden& last_hidden_;
  DrawnRows& drawn_rows_;
  RowPasses& passes_;
};

}  // namespace weft::llm
