// Gives an engine what an answer has already: the tokens that were drawn elsewhere, in the same
// passes as when they were drawn where that decides about what follows; and tokens that were chosen
// here. Tells of hidden states on the way, and draws again what is to be checked.
//
// Threading: the engine's thread. Lifetime: engine and vocabulary outlive it. Errors: the engine's.
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
  // As Generator::Options.
  struct Options {
    std::uint32_t append_max = ~0u;
    std::uint32_t replay_max = 256;
    bool exact_in_parts = false;
  };
  AnswerReader(Engine& engine, const tokenizer::Vocabulary& vocabulary, Options options)
      : engine_(engine), vocabulary_(vocabulary), options_(options) {}

  // Reads Request::answered after the prompt; stops early where it is not wanted any more.
  [[nodiscard]] Async<Result<>> replay(GeneratorSlot& slot);
  // Gives the engine what was taken and not drawn by it. `tells`: of hidden states on the way.
  [[nodiscard]] Async<Result<>> feed(GeneratorSlot& slot, bool tells);
  // Tells of the hidden state after what the slot has read, once for each length. An engine that
  // has none is not asked again.
  [[nodiscard]] Async<Result<>> tell_hidden(GeneratorSlot& slot);
  // Whether the engine draws the tokens of a request with a constraint, among those that it allows.
  [[nodiscard]] bool draws_masked(const GeneratorSlot& slot) const;
  // Whether the engine's draws bring the hidden states that the request asks for.
  [[nodiscard]] bool keeps_hidden(const GeneratorSlot& slot) const;

 private:
  [[nodiscard]] Async<Result<>> replay_shaped(GeneratorSlot& slot);
  // Reads what was answered and draws it again (answer_redraw.h).
  [[nodiscard]] Async<Result<>> redraw(GeneratorSlot& slot);

  Engine& engine_;
  const tokenizer::Vocabulary& vocabulary_;
  const Options options_;
};

}  // namespace weft::llm
