// The parts that shader jobs and kernel jobs share: error scopes that no other coroutine can
// disturb, the measurement of GPU time, and the readback of results that several pieces make.
// Internal to this folder.
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

// Catches the errors (validation and out of memory) that the device reports for the calls between
// construction and end(). Error scopes are a stack of the whole device, so the code between
// construction and end() must not await anything.
class ErrorScopes {
 public:
  explicit ErrorScopes(gpu::Device& device);
  ErrorScopes(const ErrorScopes&) = delete;
  ~ErrorScopes();
  // The errors that the scopes caught. They may be awaited later; end() has already closed the
  // scopes.
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

// Measures the seconds that `passes` passes took on the GPU. It needs a device with timestamps and
// at most `passes_max` passes.
class TaskTimer {
 public:
  TaskTimer(gpu::Device& device, std::size_t passes);
  [[nodiscard]] gpu::TimestampWrites next_pass();
  // Records the readback of the timestamps. Call it after the last pass, with the encoder of that
  // pass.
  void record(gpu::Encoder& encoder);
  // Returns 0 if nothing was measured or if the timestamps are too coarse for the passes.
  [[nodiscard]] Async<Result<double>> seconds();

 private:
  static constexpr std::size_t passes_max = 2048;  // The limit of passes in gpu::PassTimer.
  std::optional<gpu::PassTimer> timer_;
};

// Reads back one output of several pieces. copy() puts the bytes of each piece into the next slot
// of one readback buffer, and join() returns the bytes of all slots as one vector. Slots are
// padded, because the size of a copy must be a multiple of 4.
class Readback {
 public:
  Readback(gpu::Device& device, std::uint64_t slot_bytes_max, std::size_t slots);
  // Copies the bytes of a piece into the next slot.
  void copy(gpu::Encoder& encoder, const gpu::Buffer& source, std::uint64_t bytes);
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

// Writes bytes of any length. The size of a device write must be a multiple of 4, so the last word
// is filled with zeros.
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
