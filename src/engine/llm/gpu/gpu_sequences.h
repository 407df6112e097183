// The open sequences of an engine on a GPU: their tokens and their memory on the device, which
// consists of pages of the cache (kv_pages.h) and recurrent states.
//
// Threading: the device's thread. Lifetime: the setup outlives it. Bounds:
// EngineOptions::sequences, context and cache_bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "engine/llm/engine.h"
#include "engine/llm/gpu/engine_setup.h"
#include "engine/llm/gpu/kept_hidden.h"
#include "engine/llm/gpu/kv_pages.h"

namespace weft::llm {

// The state of one sequence. Plain data: the code that reads prompts, draws and runs ranges of
// layers all write it.
struct GpuSequence {
  std::vector<Token> tokens;    // All tokens up to `length`; empty if hidden states are the input.
  std::uint32_t length = 0;     // Positions that the caller appended or got from a draw.
  std::uint32_t fed = 0;        // Positions in the device's caches, including tokens drawn ahead.
  std::deque<Drawn> ahead;      // Tokens that are drawn and not yet handed out.
  std::uint32_t under_way = 0;  // The number of draws that are under way.
  std::uint64_t epoch = 0;      // Increased when the draws under way become invalid.
  // The sequence's length when it joined the rows that are drawn together.
  std::uint32_t joined_at = 0;
  // True if the sequence will join the rows that are drawn together, from its last token on, after
  // the draws that are under way for the other sequences.
  bool behind = false;
  // The number of positions that the sequence's state in LastHidden comes after; nullopt without a
  // state.
  std::optional<std::uint32_t> hidden_at;
  Sampling sampling;
  KeptHidden kept;

  [[nodiscard]] std::uint32_t drawn_ahead() const {
    return static_cast<std::uint32_t>(ahead.size()) + under_way;
  }
  // Drops all tokens and hidden states that were drawn after `length`.
  void forget_ahead() {
    ahead.clear();
    kept.forget_behind(length);
    under_way = 0;
    ++epoch;
  }
  // Marks the positions from `position` on as not read.
  void read_again_from(std::uint32_t position) {
    fed = position;
    hidden_at.reset();
  }
};

class GpuSequences {
 public:
  explicit GpuSequences(const EngineSetup& setup);

  // A buffer of recurrent state, with one part for each slot, which reset() clears. The buffer
  // outlives this object.
  struct RecurrentMemory {
    const gpu::Buffer* buffer = nullptr;
    std::uint64_t slot_bytes = 0;
  };
  void set_recurrent_memory(std::vector<RecurrentMemory> memory) { memory_ = std::move(memory); }
  // True if the model has a recurrent state, which cannot go back.
  [[nodiscard]] bool recurrent() const { return setup_.config.delta_net.has_value(); }

  // Opens a sequence as Engine::open() does.
  [[nodiscard]] Result<SequenceId> open();
  void close(SequenceId id);
  [[nodiscard]] GpuSequence& at(SequenceId id) { return *sequences_[index(id)]; }
  [[nodiscard]] const GpuSequence& at(SequenceId id) const { return *sequences_[index(id)]; }
  // The sequence; null if it was closed.
  [[nodiscard]] GpuSequence* find(SequenceId id) {
    auto& slot = sequences_[static_cast<std::size_t>(id)];
    return slot ? &*slot : nullptr;
  }

  // Fails with resource_exhausted if the context has no room for `more` positions.
  [[nodiscard]] Result<> fits(const GpuSequence& sequence, std::size_t more) const;
  // Takes pages for `positions` positions. If the cache has too few, grow() returns false and
  // grow_or_fail() fails with resource_exhausted.
  [[nodiscard]] bool grow(SequenceId id, std::uint32_t positions);
  [[nodiscard]] Result<> grow_or_fail(SequenceId id, std::uint32_t positions);
  // The number of positions that the sequence has pages for.
  [[nodiscard]] std::uint32_t room(SequenceId id) const {
    return pages_.room(static_cast<std::uint32_t>(id));
  }
  // The methods of Engine with these names. rewind() requires that no token is drawn ahead.
  [[nodiscard]] Result<> reserve(SequenceId id, std::uint32_t positions);
  [[nodiscard]] std::uint32_t share(SequenceId from, SequenceId to, std::uint32_t length);
  [[nodiscard]] std::uint32_t rewind(SequenceId id, std::uint32_t wanted);
  // Drops all that the device has of the sequence, so that it is read again from its start.
  // Recurrent states are cleared; caches need no clearing.
  void reset(SequenceId id);

 private:
  [[nodiscard]] std::size_t index(SequenceId id) const {
    const auto i = static_cast<std::size_t>(id);
    check(i < sequences_.size() && sequences_[i].has_value(), "the sequence is open");
    return i;
  }

  const EngineSetup& setup_;
  KvPages pages_;
  std::vector<std::optional<GpuSequence>> sequences_;  // The index is the slot.
  std::vector<RecurrentMemory> memory_;
};

}  // namespace weft::llm
