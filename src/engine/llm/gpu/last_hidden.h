// The final hidden state of each sequence, before the norm of the head, kept on the device: passes
// leave it there, and logits and draws take it from there. GpuSequence::hidden_at says behind how
// many positions it stands.
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

  // Records that the state in a row of the pass becomes the sequence's.
  void keep(gpu::Encoder& encoder, std::uint64_t row, SequenceId id) const {
    encoder.copy(rows_, row * row_bytes_, states_, offset(id), row_bytes_);
  }
  // Records that a row of the pass gets the sequence's.
  void put(gpu::Encoder& encoder, SequenceId id, std::uint64_t row) const {
    encoder.copy(states_, offset(id), rows_, row * row_bytes_, row_bytes_);
  }

  [[nodiscard]] const gpu::Buffer& states() const { return states_; }  // [sequence][embedding]

 private:
  [[nodiscard]] std::uint64_t offset(SequenceId id) const {
    return static_cast<std::uint64_t>(id) * row_bytes_;
  }

  const gpu::Buffer& rows_;
  const std::uint64_t row_bytes_;
  const gpu::Buffer states_;
};

}  // namespace weft::llm
