// Requests that wait, in order of arrival, until a sequence is free and the engine has memory for
// their whole answer.
//
// Threading: the engine's thread. Lifetime: the engine, the tokenizer and the slots outlive it.
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

  // Fails at once for a request that can never be answered: an empty prompt, a prompt that does not
  // fit into the context, or a parameter outside its range.
  [[nodiscard]] Result<> add(Request request, RunningAnswer::OnText on_text,
                             RunningAnswer::OnDone on_done);
  [[nodiscard]] bool empty() const { return waiting_.empty(); }

  // Begins as many of the waiting requests as there are free slots and memory for, and ends the
  // requests that are no longer wanted. Fails if the engine fails.
  [[nodiscard]] Result<> admit();
  // Tells the queue that an answer ended, so that there may be memory for the first waiting
  // request.
  void on_end() { lacks_memory_ = false; }
  // Ends all waiting requests with this error.
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
  bool lacks_memory_ = false;  // True if the first request waits for memory, which an answer frees.
};

}  // namespace weft::llm
