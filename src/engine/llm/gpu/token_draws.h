// Draws tokens with an engine that has all layers. It draws ahead of the caller's request: a draw
// leaves its token where the next pass reads it.
//
// Threading: the device's thread. Lifetime: the parts that it is made from outlive it.
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

  // The work that the device does ahead: `more` further draws, as Engine::draw() asks. If `reads`
  // is true, the drawn token is read and the next one is not chosen, as Engine::draw_and_read()
  // asks.
  struct Ahead {
    std::uint32_t more = 0;
    bool reads = false;
  };
  [[nodiscard]] Async<Result<std::vector<Drawn>>> draw(std::vector<SequenceId> ids, Ahead ahead);

  // Compiles the kernels that a draw of these sequences needs.
  [[nodiscard]] Async<Result<>> prepare_draw(const std::vector<SequenceId>& ids);

 private:
  // Checks that these sequences can draw, and takes pages for their last positions.
  [[nodiscard]] Result<> check_draw(const std::vector<SequenceId>& ids);
  [[nodiscard]] std::vector<SequenceId> without_drawn(const std::vector<SequenceId>& ids) const;
  // Submits a draw for the sequences that have no drawn tokens, if no draw is under way.
  [[nodiscard]] Async<Result<>> draw_needed(const std::vector<SequenceId>& ids, Ahead ahead);
  // Submits the first draw of these sequences together. A sequence whose last token is not read yet
  // reads this token in the pass, in one row; every other sequence draws from its final hidden
  // state.
  [[nodiscard]] Async<Result<>> draw_first(const std::vector<SequenceId>& ids);
  void record_first(const RowCount& behind, const std::vector<SequenceId>& order);
  // Submits further draws, as long as they are likely to be wanted and fit into the cache. If steps
  // are quick, one submit has several draws.
  [[nodiscard]] Async<Result<>> draw_ahead(const std::vector<SequenceId>& ids, std::size_t wanted);
  // Compiles the kernels that the next draws of the rows need. False if the rows have changed
  // meanwhile, because another caller that reads a prompt ends them; the draw then begins again.
  [[nodiscard]] Async<Result<bool>> prepare_further(std::size_t steps);
  // Submits `steps` further draws, in one submit, for the sequences whose last drawn tokens are in
  // the rows.
  void draw_further(std::size_t steps);
  // If the tokens in the rows are the last drawn tokens of these sequences, reads them.
  [[nodiscard]] Async<Result<>> read_last(const std::vector<SequenceId>& ids);
  // Takes the rows through the layers, from the dispatch `next` on, and through the head.
  void read_rows(std::size_t next = 0);
  // Submits the draw from the logits of read_rows(); with `reads`, read_rows() follows.
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
