// Time as the decisions see it: a value that is passed in, never read. Only the wiring asks a
// clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace weft {

// Wall-clock time in milliseconds since 1970, for storage and display.
using UnixMillis = std::int64_t;

// Time that only moves forward, for deadlines and measurements.
using Instant = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;

[[nodiscard]] inline Instant now() { return std::chrono::steady_clock::now(); }
[[nodiscard]] inline UnixMillis unix_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}
[[nodiscard]] inline double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace weft
