// Answers as they grow: what is drawn for one becomes part of its text, stop texts and bounds end
// it, and a constraint adds the tokens that it leaves no choice about.
//
// Threading: the engine's thread. Lifetime: what it is made from outlives it. After each function
// the slot may be free (GeneratorSlot::answer is null), or the answer only waits for the hidden
// state behind it (RunningAnswer::ending): then finish() ends it. Errors: the engine's; what only
// this answer cannot do ends it alone.
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

  // A token that was chosen here: the engine is given it later (GeneratorSlot::unread). Then what
  // the constraint fixes behind it.
  void take_chosen(GeneratorSlot& slot, const Drawn& drawn, std::vector<Drawn> top);
  // What the engine drew, with the hidden state that it came from where that is to be told of.
  [[nodiscard]] Async<Result<>> take_drawn(GeneratorSlot& slot, const Drawn& drawn,
                                           std::vector<Drawn> top);
  // What the engine drew for a request with a constraint, and what the constraint fixes behind it.
  [[nodiscard]] Async<Result<>> take_masked(GeneratorSlot& slot, Token token);
  // Takes the tokens that a constraint leaves no choice about, and ends what can only end. Where
  // the constraint cannot take them, the answer fails; false then.
  [[nodiscard]] bool take_forced(GeneratorSlot& slot);

  void end(GeneratorSlot& slot, StopReason reason);
  // end(), after the hidden state behind the answer was told of.
  [[nodiscard]] Async<Result<>> finish(GeneratorSlot& slot, StopReason reason);
  // This answer alone ends with the error.
  void fail(GeneratorSlot& slot, const Error& error);

 private:
  void take(GeneratorSlot& slot, const Drawn& drawn, std::vector<Drawn> top);
  [[nodiscard]] Result<> take_fixed(GeneratorSlot& slot);
  // Tells of the hidden state that a draw brought.
  void tell_kept(GeneratorSlot& slot);

  Engine& engine_;
  const tokenizer::Vocabulary& vocabulary_;
  SequenceSlots& slots_;
  AnswerReader& reader_;
  AnswerQueue& queue_;
};

}  // namespace weft::llm
