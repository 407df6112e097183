// Smoothing of the measurements that workers report.
#pragma once

namespace weft::inference {

inline constexpr double smoothing = 0.25;  // The weight of a new measurement.
// A worker that reports a longer time is not believed.
inline constexpr double told_ms_max = 60'000;

// The mean after another measurement; a mean of 0 stands for no measurement so far.
[[nodiscard]] constexpr double smoothed(double mean, double next) {
  return mean == 0 ? next : mean + smoothing * (next - mean);
}

}  // namespace weft::inference
