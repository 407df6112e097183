// A range of layers: hidden states in and out, one sequence at a time or a row of each of several,
// and draws behind those of others.
//
// Threading: the device's thread. Lifetime: what it is made from outlives it.
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

  // As Engine has them.
  [[nodiscard]] Async<Result<std::vector<float>>> forward(SequenceId id, std::vector<float> hidden);
  [[nodiscard]] Async<Result<std::vector<float>>> forward_tokens(SequenceId id,
                                                                 std::vector<Token> tokens);
  [[nodiscard]] Async<Result<>> absorb(SequenceId id, std::vector<float> hidden);
  [[nodiscard]] Async<Result<std::vector<float>>> forward_each(Rows rows);
  [[nodiscard]] Async<Result<>> absorb_each(Rows rows);
  [[nodiscard]] Async<Result<std::vector<Drawn>>> draw_behind_each(std::vector<DrawBehind> draws);

 private:
  // Whether the sequence can take these states; then its memory is there and its kernels are
  // compiled.
  [[nodiscard]] Async<Result<>> prepare_hidden(SequenceId id, const std::vector<float>& hidden);
  // These rows of hidden states through the layers, in one submit with what `record` adds behind
  // them.
  void pass_hidden(SequenceId id, std::span<const float> states,
                   const std::function<void(gpu::Encoder&)>& record);
  // Whether these rows can be read, each as the next position of its sequence; the pass that they
  // take.
  [[nodiscard]] Result<RowCount> check_rows(const Rows& rows) const;
  // A row of each of several sequences, in one submit with what `record` adds behind them.
  [[nodiscard]] Async<Result<>> pass_each(Rows rows, std::function<void(gpu::Encoder&)> record);
  // The same draws one by one, sampled on the CPU.
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
