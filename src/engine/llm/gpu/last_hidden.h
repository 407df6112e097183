// The final hidden state of each sequence, before the norm of the head, kept on the device. Passes
// write it; logits and draws read it. GpuSequence::hidden_at is the number of positions that the
// state comes after.
//
// Threading: the device's thread. Lifetime: the setup outlives it.
#pragma once

#include <cstdint>

#include "engine/llm/engine.h"
#include "engine/llm/gpu/engine_setup.h"

namespace weft::llm {

class LastHidden {
 public:
  explicit LastHidden(const EngineSetup& setup)
      : rows_(setup.buffers.hidden),
        row_bytes_(setup.hidden_bytes()),
        states_(setup.device.create_buffer({.size = setup.options.sequences * row_bytes_,
                                            .usage = gpu::BufferUsage::storage |
                                                     gpu::BufferUsage::copy_source |
                                                     gpu::BufferUsage::copy_destination,
                                            .label = "last hidden"})) {}

  // Records a copy of the state in a row of the pass to the sequence's state.
  void keep(gpu::Encoder& encoder, std::uint64_t row, SequenceId id) const {
    encoder.copy(rows_, row * row_bytes_, states_, offset(id), row_bytes_);
  }
  // Records a copy of the sequence's state to a row of the pass.
  void put(gpu::Encoder& encoder, SequenceId id, std::uint64_t row) const {
    encoder.copy(states_, offset(id), rows_, row * row_bytes_, row_bytes_);
  }

  // The shape is [sequence][embedding].
  [[nodiscard]] const gpu::Buffer& states() const { return states_; }

 private:
  [[nodiscard]] std::uint64_t offset(SequenceId id) const {
    return static_cast<std::uint64_t>(id) * row_bytes_;
  }

  const gpu::Buffer& rows_;
  const std::uint64_t row_bytes_;
  const gpu::Buffer states_;
};

}  // namespace weft::llm
