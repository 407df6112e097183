// GPU time of passes, in nanoseconds, by timestamp queries.
//
//   PassTimer timer(device, {.passes_max = 8});
//   { Pass pass = encoder.begin_pass("matmul", timer.next("matmul")); ... }
//   timer.record(encoder);
//   device.submit(std::move(encoder));
//   WEFT_CO_ASSIGN(auto times, co_await timer.times());
//
// Where the device has no timestamp-query, available() is false, next() is empty and times() gives
// none. Browsers round the times (100 us as a rule); natively they are exact. Threading: the
// device's thread. Lifetime: the device outlives it.
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
    std::uint32_t passes_max = 16;  // Between two times(); further passes go untimed. At most 2048.
  };
  explicit PassTimer(Device& device) : PassTimer(device, Options()) {}
  PassTimer(Device& device, Options options);

  [[nodiscard]] bool available() const { return static_cast<bool>(queries_); }
  // For begin_pass().
  [[nodiscard]] TimestampWrites next(std::string_view label);
  // After the last pass, before the submit.
  void record(Encoder& encoder);
  // After the submit: the passes since the last call, in order.
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
