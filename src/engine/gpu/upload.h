// Uploads of any length with back-pressure: the driver copies the bytes of each write() into its
// own staging memory, which grows without bound unless the caller waits. At most
// bytes_in_flight_max are under way; the next half is written while the previous half is copied.
//
//   Uploader uploader(device);
//   while (...) WEFT_CO_OK(co_await uploader.write(weights, offset, chunk));
//   WEFT_CO_OK(co_await uploader.finish());
//
// Threading: the device's thread; one write at a time. Lifetime: the device outlives the uploader.
#pragma once

#include <cstdint>
#include <deque>

#include "engine/gpu/backend.h"

namespace weft::gpu {

class Uploader {
 public:
  struct Options {
    std::uint64_t bytes_in_flight_max = std::uint64_t{32} << 20;
  };
  explicit Uploader(Device& device) : Uploader(device, Options()) {}
  Uploader(Device& device, Options options) : device_(device), options_(options) {}

  // Writes `bytes`; they and `buffer` stay valid until the write is done. offset is a multiple of
  // 4; a length that is not a multiple of 4 is filled up with zeros. Fails with invalid_argument if
  // the bytes do not fit into the buffer, and with device_lost.
  [[nodiscard]] Async<Result<>> write(const Buffer& buffer, std::uint64_t offset, ByteSpan bytes);
  // Waits until all written bytes are in their buffers.
  [[nodiscard]] Async<Result<>> finish();

 private:
  Async<Result<>> make_room(std::uint64_t bytes);

  struct Batch {
    Wait<> wait;
    std::uint64_t bytes;
  };
  Device& device_;
  const Options options_;
  std::uint64_t open_bytes_ = 0;  // Bytes since the last batch was closed.
  std::deque<Batch> under_way_;   // The batches that are under way, the oldest first.
};

}  // namespace weft::gpu
