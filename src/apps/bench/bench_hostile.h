// `weft bench hostile`: honest workers and clients of a coordinator beside thousands of connections
// that attack its port (apps/bench/hostile), and beside as many idle ones, the control.
//
// A real coordinator with its usual bounds, a data folder on disk, sockets of loopback: the attacks
// come from addresses of 127.64.0.0/16. Honest clients submit so many jobs a second, whether
// earlier ones are done or not; a lease counts from the moment when its job was to be submitted.
#pragma once

#include <cstdint>
#include <string>

namespace weft::cli {

struct BenchHostileOptions {
  std::uint32_t connections = 10'000;
  std::uint32_t addresses = 1'000;
  double seconds = 600;  // The control takes as long.
  std::uint32_t workers = 100;
  std::uint32_t clients = 100;
  double offered = 20;  // Jobs a second.
  double share = 0.5;   // The attacks take so much of a core.
  bool json = false;
};

// Prints the results; 0 if every goal is reached, 1 if not.
[[nodiscard]] int bench_hostile_command(const BenchHostileOptions& options);

}  // namespace weft::cli
