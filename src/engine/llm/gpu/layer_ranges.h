// Runs a range of layers: takes and gives hidden states, for one sequence at a time or for one row
// of each of several sequences, and draws after the hidden states of other ranges.
//
// Threading: the device's thread. Lifetime: the parts that it is made from outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/llm/gpu/draws_under_way.h"
#include "engine/llm/gpu/float_readback.h"
#include "engine/llm/gpu/output_reader.h"
#include "engine/llm/gpu/token_draws.h"

namespace weft::llm {

class LayerRanges {
 public:
  LayerRanges(const EngineSetup& setup, GpuSequences& sequences, const LastHidden& last_hidden,
              TokenSampling& sampling, DrawsUnderWay& draws, DrawnRows& drawn_rows,
              PromptReader& prompts, TokenDraws& token_draws, OutputReader& outputs,
              FloatReadback& floats, RowPasses& passes)
      : setup_(setup),
        sequences_(sequences),
        last_hidden_(last_hidden),
        sampling_(sampling),
        draws_(draws),
        drawn_rows_(drawn_rows),
        prompts_(prompts),
        token_draws_(token_draws),
        outputs_(outputs),
        floats_(floats),
        passes_(passes) {}

  // The methods of Engine with these names.
  [[nodiscard]] Async<Result<std::vector<float>>> forward(SequenceId id, std::vector<float> hidden);
  [[nodiscard]] Async<Result<std::vector<float>>> forward_tokens(SequenceId id,
                                                                 std::vector<Token> tokens);
  [[nodiscard]] Async<Result<>> absorb(SequenceId id, std::vector<float> hidden);
  [[nodiscard]] Async<Result<std::vector<float>>> forward_each(Rows rows);
  [[nodiscard]] Async<Result<>> absorb_each(Rows rows);
  [[nodiscard]] Async<Result<std::vector<Drawn>>> draw_behind_each(std::vector<DrawBehind> draws);

 private:
  // Checks that the sequence can take these states, takes memory for them and compiles the kernels
  // that they need.
  [[nodiscard]] Async<Result<>> prepare_hidden(SequenceId id, const std::vector<float>& hidden);
  // Runs rows of hidden states through the layers. Their last submit also has the commands that
  // `record` adds.
  void pass_hidden(SequenceId id, std::span<const float> states,
                   const std::function<void(gpu::Encoder&)>& record);
  // Checks that these rows can be read, each as the next position of its sequence, and returns the
  // shape of their pass.
  [[nodiscard]] Result<RowCount> check_rows(const Rows& rows) const;
  // Runs one row of each of several sequences through the layers. Their last submit also has the
  // commands that `record` adds.
  [[nodiscard]] Async<Result<>> pass_each(Rows rows, std::function<void(gpu::Encoder&)> record);
  // Makes the draws of draw_behind_each() one by one, sampled on the CPU.
  [[nodiscard]] Async<Result<std::vector<Drawn>>> draw_from_logits(std::vector<DrawBehind> draws);

  const EngineSetup& setup_;
  GpuSequences& sequences_;
  const LastHidden& last_hidden_;
  TokenSampling& sampling_;
  DrawsUnderWay& draws_;
  DrawnRows& drawn_rows_;
  PromptReader& prompts_;
  TokenDraws& token_draws_;
  OutputReader& outputs_;
  FloatReadback& floats_;
  RowPasses& passes_;
};

}  // namespace weft::llm
