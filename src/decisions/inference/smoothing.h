// Smoothing of the measurements that workers report.
#pragma once

namespace weft::inference {

inline constexpr double smoothing = 0.25;  // The weight of a new measurement.
// The longest time in milliseconds that a worker may report; longer ones are ignored.
inline constexpr double told_ms_max = 60'000;

// Returns the mean after another measurement. A mean of 0 means that nothing was measured before.
[[nodiscard]] constexpr double smoothed(double mean, double next) {
  return mean == 0 ? next : mean + smoothing * (next - mean);
}

}  // namespace weft::inference
