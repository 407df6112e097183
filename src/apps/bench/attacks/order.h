// Whether two ways of measuring the same strategies put them in the same order. The simulator plays
// each several times: two strategies that its own runs do not keep apart have no order. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::coordinator::bench {

struct Measured {
  std::string name;
  double real = 0;
  std::vector<double> simulated;  // One of each run.
};
struct Order {
  std::uint32_t pairs = 0;          // That the simulator keeps apart,
  std::uint32_t agree = 0;          // and so many of them stand alike in reality.
  std::vector<std::string> broken;  // "A, B": the simulator has A above B, reality has not.
  [[nodiscard]] bool agrees() const { return agree == pairs; }
};
// Apart are means whose distance is more than `deviations` standard deviations of both together,
// and at least 1.
[[nodiscard]] Order order_of(std::span<const Measured> all, double deviations = 2);

[[nodiscard]] double mean_of(std::span<const double> values);
// Places from 1 on, the largest first; equal values share the first of their places.
[[nodiscard]] std::vector<std::uint32_t> places_of(std::span<const double> values);

}  // namespace weft::coordinator::bench
