// Memory of this process that a device copies from, kept from upload to upload: what a driver takes
// for each write of megabytes costs more than the copy.
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

// What a Backend is as well if its buffers can be written to in this process's memory.
class MappedStaging {
 public:
  virtual ~MappedStaging() = default;
  // A buffer that copies come from. It is mapped when it is made.
  [[nodiscard]] virtual Handle create_staging(std::uint64_t size) = 0;
  // Its bytes, while it is mapped.
  [[nodiscard]] virtual std::span<std::uint8_t> mapped_bytes(Handle staging,
                                                             std::uint64_t size) = 0;
  // Before a submit that copies from it.
  virtual void unmap(Handle staging) = 0;
  // `done` when all that was submitted has copied from it, and it is mapped again.
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

  // Records that `bytes` go to the begin of `buffer`; a length that is not a multiple of 4 is
  // filled up with zeros. `bytes` may go when this returns. Where no slot is free, the bytes are
  // over slot_bytes, or the device has no such memory, they are written before the submit, in
  // pieces that drivers keep memory for.
  void write(Encoder& encoder, const Buffer& buffer, ByteSpan bytes);
  // After the submit of what write() recorded, or when that is given up.
  void submitted();
  // Slots that can be written to at once.
  [[nodiscard]] std::size_t free_slots() const;

 private:
  struct Slot {
    Buffer buffer;
    bool mapped = true;
    bool used = false;           // Since the latest submitted().
    std::optional<Wait<>> wait;  // For being mapped again.
  };
  Slot* free_slot();

  Device& device_;
  MappedStaging* const staging_;  // Null: the device has none.
  const Options options_;
  std::vector<Slot> slots_;
};

}  // namespace weft::gpu
