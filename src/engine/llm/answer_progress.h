// Adds tokens to answers: each drawn token becomes part of the answer's text, stop texts and bounds
// end the answer, and if a constraint leaves only one choice of the next tokens, they are added,
// too.
//
// Threading: the engine's thread. Lifetime: the parts that it is made from outlive it. After each
// function the slot may be free (GeneratorSlot::answer is null), or the answer may only wait for
// its last hidden state (RunningAnswer::ending); finish() then ends the answer. Errors: the
// engine's errors; an error that concerns only this answer ends only this answer.
#pragma once

#include <vector>

#include "common/base/async.h"
#include "common/base/result.h"
#include "engine/llm/answer_queue.h"
#include "engine/llm/answer_reader.h"
#include "engine/llm/engine.h"
#include "engine/llm/running_answer.h"
#include "engine/llm/sequence_slots.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::llm {

class AnswerProgress {
 public:
  AnswerProgress(Engine& engine, const tokenizer::Vocabulary& vocabulary, SequenceSlots& slots,
                 AnswerReader& reader, AnswerQueue& queue)
      : engine_(engine), vocabulary_(vocabulary), slots_(slots), reader_(reader), queue_(queue) {}

  // Adds a token that the CPU chose from the engine's logits and that the engine is given later
  // (GeneratorSlot::unread), and then the tokens that the constraint fixes after it.
  void take_chosen(GeneratorSlot& slot, const Drawn& drawn, std::vector<Drawn> top);
  // Adds a token that the engine drew. Before that, reports the hidden state that the token was
  // drawn from if the request asks for it.
  [[nodiscard]] Async<Result<>> take_drawn(GeneratorSlot& slot, const Drawn& drawn,
                                           std::vector<Drawn> top);
  // Adds a token that the engine drew for a request with a constraint, and then the tokens that the
  // constraint fixes after it.
  [[nodiscard]] Async<Result<>> take_masked(GeneratorSlot& slot, Token token);
  // Adds the tokens that the constraint leaves no choice about, and ends an answer that can only
  // end. If the constraint does not accept a token, the answer fails and the result is false.
  [[nodiscard]] bool take_forced(GeneratorSlot& slot);

  void end(GeneratorSlot& slot, StopReason reason);
  // Reports the hidden state after the answer's last token, then ends the answer with end().
  [[nodiscard]] Async<Result<>> finish(GeneratorSlot& slot, StopReason reason);
  // Ends only this answer, with the error.
  void fail(GeneratorSlot& slot, const Error& error);

 private:
  void take(GeneratorSlot& slot, const Drawn& drawn, std::vector<Drawn> top);
  [[nodiscard]] Result<> take_fixed(GeneratorSlot& slot);
  // Reports the hidden state that the engine kept for the last draw.
  void tell_kept(GeneratorSlot& slot);

  Engine& engine_;
  const tokenizer::Vocabulary& vocabulary_;
  SequenceSlots& slots_;
  AnswerReader& reader_;
  AnswerQueue& queue_;
};

}  // namespace weft::llm
