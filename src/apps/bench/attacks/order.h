// Compares the order of strategies in reality with their order in the simulator. The simulator
// plays each strategy several times; two strategies that its runs do not separate have no order.
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::coordinator::bench {

struct Measured {
  std::string name;
  double real = 0;
  std::vector<double> simulated;  // One value for each run.
};
struct Order {
  std::uint32_t pairs = 0;          // Pairs that the simulator ranks clearly.
  std::uint32_t agree = 0;          // Pairs that have the same order in reality.
  std::vector<std::string> broken;  // "A, B": the simulator ranks A above B, reality does not.
  [[nodiscard]] bool agrees() const { return agree == pairs; }
};
// Compares all pairs. Two strategies are separated if the distance of their means is at least 1 and
// more than `deviations` standard deviations of both together.
[[nodiscard]] Order order_of(std::span<const Measured> all, double deviations = 2);

[[nodiscard]] double mean_of(std::span<const double> values);
// The rank of each value, with 1 for the largest; equal values share the best of their ranks.
[[nodiscard]] std::vector<std::uint32_t> places_of(std::span<const double> values);

}  // namespace weft::coordinator::bench
