// The sequences of an engine on a GPU: which are open, what each was given and has drawn, and its
// memory on the device, which are pages of the cache (kv_pages.h) and recurrent states.
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

// Plain data: reading, drawing and ranges of layers write it together.
struct GpuSequence {
  std::vector<Token> tokens;  // Handed in and handed out; empty where hidden states come in.
  std::uint32_t length = 0;   // Positions that were handed in and out.
  std::uint32_t fed = 0;      // Positions in the device's caches. What it drew ahead is among them.
  std::deque<Drawn> ahead;    // Drawn and not yet handed out.
  std::uint32_t under_way = 0;  // Draws.
  std::uint64_t epoch = 0;      // Goes up when what is under way no longer counts.
  // Its length when it joined the rows that are drawn together.
  std::uint32_t joined_at = 0;
  // It goes on in these rows from its last token, behind what is under way for the others.
  bool behind = false;
  // The final hidden state that LastHidden has of it is the one behind so many positions.
  std::optional<std::uint32_t> hidden_at;
  Sampling sampling;
  KeptHidden kept;

  [[nodiscard]] std::uint32_t drawn_ahead() const {
    return static_cast<std::uint32_t>(ahead.size()) + under_way;
  }
  // What was drawn behind its length does not count any more.
  void forget_ahead() {
    ahead.clear();
    kept.forget_behind(length);
    under_way = 0;
    ++epoch;
  }
  // Positions from here on are read again.
  void read_again_from(std::uint32_t position) {
    fed = position;
    hidden_at.reset();
  }
};

class GpuSequences {
 public:
  explicit GpuSequences(const EngineSetup& setup);

  // What reset() clears: a part of each buffer is one slot's. The buffers outlive this.
  struct RecurrentMemory {
    const gpu::Buffer* buffer = nullptr;
    std::uint64_t slot_bytes = 0;
  };
  void set_recurrent_memory(std::vector<RecurrentMemory> memory) { memory_ = std::move(memory); }
  // The model has a recurrent state, which cannot go back.
  [[nodiscard]] bool recurrent() const { return setup_.config.delta_net.has_value(); }

  // As Engine::open() has it.
  [[nodiscard]] Result<SequenceId> open();
  void close(SequenceId id);
  [[nodiscard]] GpuSequence& at(SequenceId id) { return *sequences_[index(id)]; }
  [[nodiscard]] const GpuSequence& at(SequenceId id) const { return *sequences_[index(id)]; }
  // Null where it was closed.
  [[nodiscard]] GpuSequence* find(SequenceId id) {
    auto& slot = sequences_[static_cast<std::size_t>(id)];
    return slot ? &*slot : nullptr;
  }

  // resource_exhausted if the context has no room for so many more positions.
  [[nodiscard]] Result<> fits(const GpuSequence& sequence, std::size_t more) const;
  // Pages for so many positions; if the cache has too few, false or resource_exhausted.
  [[nodiscard]] bool grow(SequenceId id, std::uint32_t positions);
  [[nodiscard]] Result<> grow_or_fail(SequenceId id, std::uint32_t positions);
  // Positions that it has pages for.
  [[nodiscard]] std::uint32_t room(SequenceId id) const {
    return pages_.room(static_cast<std::uint32_t>(id));
  }
  // As Engine has them. Before rewind() nothing is drawn ahead of the sequence.
  [[nodiscard]] Result<> reserve(SequenceId id, std::uint32_t positions);
  [[nodiscard]] std::uint32_t share(SequenceId from, SequenceId to, std::uint32_t length);
  [[nodiscard]] std::uint32_t rewind(SequenceId id, std::uint32_t wanted);
  // No part of it is on the device any more, so that it is read again from its start: caches need
  // no clearing, recurrent states do.
  void reset(SequenceId id);

 private:
  [[nodiscard]] std::size_t index(SequenceId id) const {
    const auto i = static_cast<std::size_t>(id);
    check(i < sequences_.size() && sequences_[i].has_value(), "the sequence is open");
    return i;
  }

  const EngineSetup& setup_;
  KvPages pages_;
  std::vector<std::optional<GpuSequence>> sequences_;  // By slot.
  std::vector<RecurrentMemory> memory_;
};

}  // namespace weft::llm
