// Reads the outputs of a model to the CPU: logits and final hidden states.
//
// Threading: the device's thread. Lifetime: the parts that it is made from outlive it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/llm/gpu/float_readback.h"
#include "engine/llm/gpu/prompt_reader.h"

namespace weft::llm {

class OutputReader {
 public:
  OutputReader(const EngineSetup& setup, GpuSequences& sequences, const LastHidden& last_hidden,
               DrawnRows& drawn_rows, PromptReader& prompts, FloatReadback& floats,
               RowPasses& passes)
      : setup_(setup),
        sequences_(sequences),
        last_hidden_(last_hidden),
        drawn_rows_(drawn_rows),
        prompts_(prompts),
        floats_(floats),
        passes_(passes) {}

  // The methods of Engine with these names.
  [[nodiscard]] Async<Result<std::vector<float>>> logits(SequenceId id);
  [[nodiscard]] Async<Result<std::vector<float>>> logits_along(SequenceId id,
                                                               std::vector<Token> tokens);
  [[nodiscard]] Async<Result<std::vector<float>>> last_hidden(SequenceId id);

  // Records copies of these sequences' final hidden states to the first rows, and the dispatches of
  // the head, which makes logits of the states. Returns the number of dispatches, which the caller
  // counts.
  std::uint32_t record_head(gpu::Encoder& encoder, const std::vector<SequenceId>& ids) const;

 private:
  void check_last_layer() const;

  const EngineSetup& setup_;
  GpuSequences& sequences_;
  const LastHidden& last_hidden_;
  DrawnRows& drawn_rows_;
  PromptReader& prompts_;
  FloatReadback& floats_;
  RowPasses& passes_;
};

}  // namespace weft::llm
