// The engine's sequences with what each has read: which one a prompt is given, so that what was
// read before is not read again, and memory for the whole of an answer before it begins.
//
// Threading: the engine's thread. Lifetime: the engine outlives it; the destructor closes the
// sequences. Bounds: EngineOptions::sequences.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/base/result.h"
#include "engine/llm/engine.h"
#include "engine/llm/running_answer.h"

namespace weft::llm {

class SequenceSlots {
 public:
  explicit SequenceSlots(Engine& engine) : engine_(engine) {}
  SequenceSlots(const SequenceSlots&) = delete;
  ~SequenceSlots();

  using Slots = std::vector<std::unique_ptr<GeneratorSlot>>;
  [[nodiscard]] const Slots& all() const { return slots_; }
  [[nodiscard]] bool any_answers() const;

  // Null while every sequence answers.
  [[nodiscard]] GeneratorSlot* free_for(const std::vector<Token>& prompt);
  // Keeps what `slot` has read of the prompt, or takes what another one, answering or not, has read
  // of it, where that is more. How much the slot then has: less than all of it.
  [[nodiscard]] std::uint32_t begin_with_what_is_read(GeneratorSlot& slot,
                                                      const std::vector<Token>& prompt);
  // Memory for the whole of an answer; slots that only keep what they have read give way.
  // resource_exhausted while other answers have too much of it.
  [[nodiscard]] Result<> reserve(GeneratorSlot& slot, const Request& request);
  // Frees the slot; it keeps what it has read, up to what was taken of the answer.
  [[nodiscard]] std::unique_ptr<RunningAnswer> release(GeneratorSlot& slot);
  // Frees the slot; nothing that it has read is believed any more.
  [[nodiscard]] std::unique_ptr<RunningAnswer> abandon(GeneratorSlot& slot);

 private:
  [[nodiscard]] GeneratorSlot* open_slot();

  Engine& engine_;
  Slots slots_;
  std::uint64_t uses_ = 0;
};

}  // namespace weft::llm
