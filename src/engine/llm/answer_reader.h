// Gives an engine the tokens that an answer already has: tokens that another engine drew
// (Request::answered) and tokens that a constraint fixes or the CPU chose. If the answer is
// continued, the tokens of the other engine are read in the same passes in which they were drawn,
// because the passes decide which tokens follow. While it reads, it reports hidden states, and
// draws tokens again for an audit.
//
// Threading: the engine's thread. Lifetime: the engine and the vocabulary outlive it. Errors: the
// engine's errors.
#pragma once

#include <cstdint>

#include "common/base/async.h"
#include "common/base/result.h"
#include "engine/llm/engine.h"
#include "engine/llm/running_answer.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::llm {

class AnswerReader {
 public:
  // The fields mean the same as those of Generator::Options with the same names.
  struct Options {
    std::uint32_t append_max = ~0u;
    std::uint32_t replay_max = 256;
    bool exact_in_parts = false;
  };
  AnswerReader(Engine& engine, const tokenizer::Vocabulary& vocabulary, Options options)
      : engine_(engine), vocabulary_(vocabulary), options_(options) {}

  // Reads Request::answered after the prompt; stops early if the answer is no longer wanted.
  [[nodiscard]] Async<Result<>> replay(GeneratorSlot& slot);
  // Gives the engine the tokens of the slot that it has not read. If `tells` is true, reports
  // hidden states between them.
  [[nodiscard]] Async<Result<>> feed(GeneratorSlot& slot, bool tells);
  // Reports the hidden state after the last token that the engine has read, once for each length.
  // An engine that gives no hidden states is asked only once.
  [[nodiscard]] Async<Result<>> tell_hidden(GeneratorSlot& slot);
  // True if the engine draws the tokens of the slot's request itself, under a mask of the tokens
  // that the request's constraint allows.
  [[nodiscard]] bool draws_masked(const GeneratorSlot& slot) const;
  // True if the engine's draws keep the hidden states that the request asks for.
  [[nodiscard]] bool keeps_hidden(const GeneratorSlot& slot) const;

 private:
  [[nodiscard]] Async<Result<>> replay_shaped(GeneratorSlot& slot);
  // Reads the tokens of Request::answered and draws each again (answer_redraw.h).
  [[nodiscard]] Async<Result<>> redraw(GeneratorSlot& slot);

  Engine& engine_;
  const tokenizer::Vocabulary& vocabulary_;
  const Options options_;
};

}  // namespace weft::llm
