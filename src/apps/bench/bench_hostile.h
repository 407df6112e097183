// `weft bench hostile`: measures honest workers and clients of a coordinator while thousands of
// connections attack its port (apps/bench/hostile), and as a control while the same number of
// connections is idle.
//
// It uses a real coordinator with its usual bounds, a data folder on disk, and sockets on loopback.
// The attacks come from addresses of 127.64.0.0/16. Honest clients submit `offered` jobs a second,
// whether earlier jobs are done or not. The time of a lease counts from the scheduled time of its
// job's submission.
#pragma once

#include <cstdint>
#include <string>

namespace weft::cli {

struct BenchHostileOptions {
  std::uint32_t connections = 10'000;
  std::uint32_t addresses = 1'000;
  double seconds = 600;  // Duration of the attack and of the control.
  std::uint32_t workers = 100;
  std::uint32_t clients = 100;
  double offered = 20;  // Jobs submitted a second.
  double share = 0.5;   // Share of a core that the attacks use.
  bool json = false;
};

// Prints the results. Returns 0 if every goal is reached, otherwise 1.
[[nodiscard]] int bench_hostile_command(const BenchHostileOptions& options);

}  // namespace weft::cli
