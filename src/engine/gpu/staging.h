// Staging memory of this process from which a device copies, kept from upload to upload, because a
// driver's new memory for each write of megabytes costs more than the copy.
//
//   UploadRing ring(device, {.slot_bytes = frame_bytes});
//   ring.write(encoder, buffer, frame);   // for each frame; copied when the encoder runs
//   device.submit(std::move(encoder));
//   ring.submitted();
//
// Threading: the device's thread. Lifetime: the device outlives the ring.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/gpu/backend.h"

namespace weft::gpu {

// A Backend also implements this interface if its buffers can be mapped into this process's memory.
class MappedStaging {
 public:
  virtual ~MappedStaging() = default;
  // Creates a buffer that is a source of copies. It is mapped at its creation.
  [[nodiscard]] virtual Handle create_staging(std::uint64_t size) = 0;
  // The bytes of the staging buffer while it is mapped; empty if it is not mapped.
  [[nodiscard]] virtual std::span<std::uint8_t> mapped_bytes(Handle staging,
                                                             std::uint64_t size) = 0;
  // Unmaps the buffer, before a submit that copies from it.
  virtual void unmap(Handle staging) = 0;
  // Maps the buffer again. Calls `done` when all submitted copies from the buffer are made and the
  // buffer is mapped.
  virtual void map(Handle staging, std::uint64_t size, Completion<> done) = 0;
};

class UploadRing {
 public:
  struct Options {
    std::uint64_t slot_bytes = 0;
    std::size_t slots = 2;
  };
  UploadRing(Device& device, Options options);
  UploadRing(const UploadRing&) = delete;
  ~UploadRing();

  // Records a copy of `bytes` to the beginning of `buffer`; a length that is not a multiple of 4 is
  // filled up with zeros. `bytes` may be freed when this returns. If no slot is free, the bytes are
  // over slot_bytes, or the device cannot map memory, the bytes are written before the submit, in
  // pieces for which drivers keep memory.
  void write(Encoder& encoder, const Buffer& buffer, ByteSpan bytes);
  // Maps the slots of the recorded copies again. Call it after the submit of these copies, or after
  // their encoder was dropped.
  void submitted();
  // The number of slots that can be written to at once.
  [[nodiscard]] std::size_t free_slots() const;

 private:
  struct Slot {
    Buffer buffer;
    bool mapped = true;
    bool used = false;           // True if the slot was used since the last submitted().
    std::optional<Wait<>> wait;  // Waits until the slot is mapped again.
  };
  Slot* free_slot();

  Device& device_;
  MappedStaging* const staging_;  // Null if the device cannot map memory.
  const Options options_;
  std::vector<Slot> slots_;
};

}  // namespace weft::gpu
