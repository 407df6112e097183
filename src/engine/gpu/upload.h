// Uploads of any length with back-pressure: the driver copies what write() is given into staging of
// its own, which grows without bound unless the caller waits. At most bytes_in_flight_max are under
// way; the next half is written while the previous one is copied.
//
//   Uploader uploader(device);
//   while (...) WEFT_CO_OK(co_await uploader.write(weights, offset, chunk));
//   WEFT_CO_OK(co_await uploader.finish());
//
// Threading: the device's thread; one write at a time. Lifetime: the device outlives it.
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

  // `bytes` and `buffer` stay valid until done. offset is a multiple of 4; a length that is not is
  // filled up with zeros. Fails with invalid_argument when it does not fit, and with device_lost.
  [[nodiscard]] Async<Result<>> write(const Buffer& buffer, std::uint64_t offset, ByteSpan bytes);
  // Everything written so far has arrived.
  [[nodiscard]] Async<Result<>> finish();

 private:
  Async<Result<>> make_room(std::uint64_t bytes);

  struct Batch {
    Wait<> wait;
    std::uint64_t bytes;
  };
  Device& device_;
  const Options options_;
  std::uint64_t open_bytes_ = 0;  // Written since the last batch was closed.
  std::deque<Batch> under_way_;   // Oldest first.
};

}  // namespace weft::gpu
