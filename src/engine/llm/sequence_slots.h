// The engine's sequences, with the tokens that each of them has read. SequenceSlots chooses the
// sequence for a prompt, so that text that was read before is not read again, and reserves memory
// for a whole answer before the answer begins.
//
// Threading: the engine's thread. Lifetime: the engine outlives the slots; the destructor closes
// the sequences. Bounds: EngineOptions::sequences.
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

  // Returns the best free slot for the prompt; null while every sequence is answering.
  [[nodiscard]] GeneratorSlot* free_for(const std::vector<Token>& prompt);
  // Keeps the part of the prompt that `slot` has read, or shares the part that another slot,
  // answering or free, has read, if that part is larger. Returns the number of tokens that the slot
  // then has, which is less than the whole prompt.
  [[nodiscard]] std::uint32_t begin_with_what_is_read(GeneratorSlot& slot,
                                                      const std::vector<Token>& prompt);
  // Reserves memory for the whole answer. If memory is short, closes slots that are not answering,
  // the least recently used first; what they have read is lost. Fails with resource_exhausted if
  // the memory is still too small.
  [[nodiscard]] Result<> reserve(GeneratorSlot& slot, const Request& request);
  // Frees the slot. It keeps the tokens that the engine has read for it, up to the last token that
  // was taken into the answer.
  [[nodiscard]] std::unique_ptr<RunningAnswer> release(GeneratorSlot& slot);
  // Frees the slot and drops all that the engine has read for it, because this may be wrong after
  // an error.
  [[nodiscard]] std::unique_ptr<RunningAnswer> abandon(GeneratorSlot& slot);

 private:
  [[nodiscard]] GeneratorSlot* open_slot();

  Engine& engine_;
  Slots slots_;
  std::uint64_t uses_ = 0;
};

}  // namespace weft::llm
