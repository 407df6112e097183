// Parts that running shaders and running kernels share: error scopes that no other coroutine can
// get into, the time on the GPU, and results that come back from several pieces. Internal to this
// folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/async.h"
#include "common/base/bytes.h"
#include "engine/gpu/completion.h"
#include "engine/gpu/device.h"
#include "engine/gpu/timer.h"

namespace weft::exec {

// Catches what the device says of the calls between construction and end(): mistakes and exhausted
// memory. Scopes are a stack of the whole device, so nothing may be awaited in between.
class ErrorScopes {
 public:
  explicit ErrorScopes(gpu::Device& device);
  ErrorScopes(const ErrorScopes&) = delete;
  ~ErrorScopes();
  // What was caught, to be awaited when it suits. The scopes end now.
  class Caught {
   public:
    Caught(gpu::Wait<> validation, gpu::Wait<> memory)
        : validation_(std::move(validation)), memory_(std::move(memory)) {}
    [[nodiscard]] Async<Result<>> result();

   private:
    gpu::Wait<> validation_;
    gpu::Wait<> memory_;
  };
  [[nodiscard]] Caught end();

 private:
  gpu::Device& device_;
  bool open_ = true;
};

// Seconds that `passes` passes took on the GPU: timestamps where the device has them and there are
// not too many passes.
class TaskTimer {
 public:
  TaskTimer(gpu::Device& device, std::size_t passes);
  [[nodiscard]] gpu::TimestampWrites next_pass();
  // After the last pass, in its encoder.
  void record(gpu::Encoder& encoder);
  // Zero if nothing was measured, or too coarsely to see it.
  [[nodiscard]] Async<Result<double>> seconds();

 private:
  static constexpr std::size_t passes_max = 2048;  // gpu::PassTimer's bound.
  std::optional<gpu::PassTimer> timer_;
};

// One output of several pieces: each piece's bytes go into a slot of one read-back buffer, and come
// out joined. Slots are padded, since copies want multiples of four.
class Readback {
 public:
  Readback(gpu::Device& device, std::uint64_t slot_bytes_max, std::size_t slots);
  void copy(gpu::Encoder& encoder, const gpu::Buffer& source,
            std::uint64_t bytes);  // Into the next slot.
  [[nodiscard]] Async<Result<ByteVector>> join();

 private:
  gpu::Device& device_;
  std::uint64_t stride_;
  gpu::Buffer buffer_;
  std::vector<std::uint64_t> sizes_;
};

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Writes bytes of any length; the device wants a multiple of four and gets zeros behind.
void write_padded(gpu::Device& device, const gpu::Buffer& buffer, std::uint64_t offset,
                  ByteSpan bytes);

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace weft::exec
