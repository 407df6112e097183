// Tokens drawn by the engine with all layers, ahead of the caller's request: a draw leaves its
// token where the next pass reads it.
//
// Threading: the device's thread. Lifetime: what it is made from outlives it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/llm/gpu/drawn_rows.h"
#include "engine/llm/gpu/draws_under_way.h"
#include "engine/llm/gpu/prompt_reader.h"

namespace weft::llm {

class TokenDraws {
 public:
  TokenDraws(const EngineSetup& setup, GpuSequences& sequences, const LastHidden& last_hidden,
             TokenSampling& sampling, DrawsUnderWay& draws, DrawnRows& rows, PromptReader& prompts,
             RowPasses& passes)
      : setup_(setup),
        sequences_(sequences),
        last_hidden_(last_hidden),
        sampling_(sampling),
        draws_(draws),
        rows_(rows),
        prompts_(prompts),
        passes_(passes) {}

  // What Engine::draw() and Engine::draw_and_read() do: so many draws ahead, or one that is read
  // and not yet chosen.
  struct Ahead {
    std::uint32_t more = 0;
    bool reads = false;
  };
  [[nodiscard]] Async<Result<std::vector<Drawn>>> draw(std::vector<SequenceId> ids, Ahead ahead);

  // Compiles what a draw of these sequences needs.
  [[nodiscard]] Async<Result<>> prepare_draw(const std::vector<SequenceId>& ids);

 private:
  // Whether they can draw at all, and their last positions have pages.
  [[nodiscard]] Result<> check_draw(const std::vector<SequenceId>& ids);
  [[nodiscard]] std::vector<SequenceId> without_drawn(const std::vector<SequenceId>& ids) const;
  // Those that have nothing ahead get something under way.
  [[nodiscard]] Async<Result<>> draw_needed(const std::vector<SequenceId>& ids, Ahead ahead);
  // The first draw of these sequences together. Those whose last token was not read yet read it
  // here, a row each in one pass; the others draw from the final hidden states that they have.
  [[nodiscard]] Async<Result<>> draw_first(const std::vector<SequenceId>& ids);
  void record_first(const RowCount& behind, const std::vector<SequenceId>& order);
  // Work ahead, as long as it is likely to be wanted and fits: where steps are quick, several in a
  // submit.
  [[nodiscard]] Async<Result<>> draw_ahead(const std::vector<SequenceId>& ids, std::size_t wanted);
  // Compiles what the next draws of the rows need. False if the rows are no longer those of before:
  // another caller that reads a prompt meanwhile ends them, and the draw begins again.
  [[nodiscard]] Async<Result<bool>> prepare_further(std::size_t steps);
  // Further draws, in one submit, for the sequences whose last drawn tokens are in the rows.
  void draw_further(std::size_t steps);
  // Reads the tokens in the rows, if these sequences are asked for the last that were drawn.
  [[nodiscard]] Async<Result<>> read_last(const std::vector<SequenceId>& ids);
  // Takes the rows through the layers and the head, from the dispatch `next` on.
  void read_rows(std::size_t next = 0);
  // The draw that follows on read_rows(); `reads`: and read_rows() behind it.
  void choose_read(bool reads);

  const EngineSetup& setup_;
  GpuSequences& sequences_;
  const LastHidden& last_hidden_;
  TokenSampling& sampling_;
  DrawsUnderWay& draws_;
  DrawnRows& rows_;
  PromptReader& prompts_;
  RowPasses& passes_;
};

}  // namespace weft::llm
