// Requests that wait until a sequence is free and the engine has memory for the whole of their
// answers, in the order in which they came.
//
// Threading: the engine's thread. Lifetime: engine, tokenizer and slots outlive it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "common/base/result.h"
#include "engine/llm/engine.h"
#include "engine/llm/generation.h"
#include "engine/llm/running_answer.h"
#include "engine/llm/sequence_slots.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::llm {

class AnswerQueue {
 public:
  AnswerQueue(Engine& engine, const tokenizer::Tokenizer& tokenizer, SequenceSlots& slots)
      : engine_(engine), tokenizer_(tokenizer), slots_(slots) {}

  // Fails at once for what can never be answered: an empty prompt, one beyond the context, bad
  // numbers.
  [[nodiscard]] Result<> add(Request request, RunningAnswer::OnText on_text,
                             RunningAnswer::OnDone on_done);
  [[nodiscard]] bool empty() const { return waiting_.empty(); }

  // As many as there are slots and memory for begin; those that need not wait any more end. Fails
  // as the engine does.
  [[nodiscard]] Result<> admit();
  // An answer ended, so that there may be memory for the first that waits.
  void on_end() { lacks_memory_ = false; }
  // All that wait end with this.
  void fail_all(const Error& error);

 private:
  [[nodiscard]] Result<> check_request(const Request& request) const;
  void drop_unwanted();
  [[nodiscard]] std::unique_ptr<RunningAnswer> take_first();
  void begin(GeneratorSlot& slot, std::unique_ptr<RunningAnswer> answer, std::uint32_t kept);

  Engine& engine_;
  const tokenizer::Tokenizer& tokenizer_;
  SequenceSlots& slots_;
  std::deque<std::unique_ptr<RunningAnswer>> waiting_;
  bool lacks_memory_ = false;  // For the first that waits, until an answer ends.
};

}  // namespace weft::llm
