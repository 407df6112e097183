// How measurements that workers tell of are taken in.
#pragma once

namespace weft::inference {

inline constexpr double smoothing = 0.25;      // How much of a new measurement counts.
inline constexpr double told_ms_max = 60'000;  // A worker that tells of more is not believed.

// The mean after another measurement; 0 stands for none so far.
[[nodiscard]] constexpr double smoothed(double mean, double next) {
  return mean == 0 ? next : mean + smoothing * (next - mean);
}

}  // namespace weft::inference
