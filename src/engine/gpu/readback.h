// Small reads that stay under way while the GPU goes on: each is copied into a slot of its own and
// is awaited later, so that the CPU does not wait for a round trip for each token.
//
//   ReadbackRing ring(device, {.slots = 4, .slot_bytes = 256});
//   WEFT_CO_ASSIGN(Readback read, ring.record(encoder, tokens, 0, 64));
//   device.submit(std::move(encoder));
//   read.begin();                                     // The read is under way from here on.
//   ...                                               // Further submits.
//   WEFT_CO_ASSIGN(ByteSpan bytes, co_await read.bytes());
//
// Threading: the device's thread. Lifetime: the device outlives the ring, and the ring outlives its
// Readbacks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/gpu/backend.h"

namespace weft::gpu {

class ReadbackRing;

// One read. It lasts from record() to its destruction, which frees the slot once the read
// completes.
class Readback {
 public:
  Readback(Readback&& other) noexcept;
  Readback& operator=(Readback&&) = delete;
  ~Readback();

  // Begins the read; called once, after the submit.
  void begin();
  // Waits for the bytes, which are valid as long as the Readback. Called once.
  [[nodiscard]] Async<Result<ByteSpan>> bytes();

 private:
  friend class ReadbackRing;
  Readback(ReadbackRing& ring, std::size_t slot, std::size_t size)
      : ring_(&ring), slot_(slot), size_(size) {}
  ReadbackRing* ring_;
  std::size_t slot_;
  std::size_t size_;
};

class ReadbackRing {
 public:
  struct Options {
    std::size_t slots = 4;
    std::uint64_t slot_bytes = 4096;
  };
  ReadbackRing(Device& device, Options options);
  ReadbackRing(const ReadbackRing&) = delete;
  ~ReadbackRing();

  // Records a copy to a free slot. Fails with resource_exhausted if all slots are in use or the
  // size is over slot_bytes, and with invalid_argument if offset or size is not a multiple of 4.
  [[nodiscard]] Result<Readback> record(Encoder& encoder, const Buffer& source,
                                        std::uint64_t offset, std::uint64_t size);
  // Records copies of the parts of `size` bytes at each of `offsets`; the slot holds the parts one
  // after another. Fails as record() does.
  [[nodiscard]] Result<Readback> record_parts(Encoder& encoder, const Buffer& source,
                                              std::span<const std::uint64_t> offsets,
                                              std::uint64_t size);
  [[nodiscard]] std::size_t free_slots() const;

 private:
  friend class Readback;
  struct Slot {
    Buffer buffer;
    ByteVector bytes;
    std::optional<Wait<>> wait;  // The read that begin() started. The slot is free once it is done.
    bool taken = false;
    [[nodiscard]] bool free() const { return !taken && (!wait || wait->done()); }
  };
  Device& device_;
  const Options options_;
  std::vector<Slot> slots_;
};

}  // namespace weft::gpu
