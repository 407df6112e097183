// Measures the GPU time of passes, in nanoseconds, with timestamp queries.
//
//   PassTimer timer(device, {.passes_max = 8});
//   { Pass pass = encoder.begin_pass("matmul", timer.next("matmul")); ... }
//   timer.record(encoder);
//   device.submit(std::move(encoder));
//   WEFT_CO_ASSIGN(auto times, co_await timer.times());
//
// If the device has no timestamp-query, available() is false, next() is empty and times() gives no
// times. Browsers round the times (usually to 100 us); natively they are exact. Threading: the
// device's thread. Lifetime: the device outlives the timer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/gpu/device.h"

namespace weft::gpu {

struct PassTime {
  std::string label;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  [[nodiscard]] double seconds() const {
    return end_ns > begin_ns ? static_cast<double>(end_ns - begin_ns) * 1e-9 : 0;
  }
};

class PassTimer {
 public:
  struct Options {
    // The most timed passes between two calls of times(); at most 2048.
    std::uint32_t passes_max = 16;
  };
  explicit PassTimer(Device& device) : PassTimer(device, Options()) {}
  PassTimer(Device& device, Options options);

  [[nodiscard]] bool available() const { return static_cast<bool>(queries_); }
  // The argument for begin_pass() that times the next pass.
  [[nodiscard]] TimestampWrites next(std::string_view label);
  // Records the copy of the timestamps to the readback buffer. Call it after the last pass, before
  // the submit.
  void record(Encoder& encoder);
  // The times of the passes since the last call, in order. Called after the submit.
  [[nodiscard]] Async<Result<std::vector<PassTime>>> times();

 private:
  Device& device_;
  const std::uint32_t passes_max_;
  QuerySet queries_;
  Buffer resolved_;
  Buffer staging_;
  std::vector<std::string> labels_;
};

}  // namespace weft::gpu
