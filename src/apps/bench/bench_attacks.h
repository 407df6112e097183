// `weft bench attacks`: plays strategies of attackers against real processes and compares the
// outcome with the simulator's for the same strategies (decisions/trust/attacks).
//
// Each strategy has its own coordinator (`weft serve` with its verifier and a data folder on disk),
// and workers and clients over real sockets (apps/bench/attacks). The final results of clients are
// read from the folder after the coordinator has stopped, and compared with the truth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::cli {

struct BenchAttacksOptions {
  std::vector<std::string> strategies;  // Names; empty: the fourteen that differ most.
  std::uint32_t tasks = 500;            // Tasks of honest clients for each strategy.
  std::uint32_t simulations = 20;       // Simulator runs of each strategy.
  std::uint64_t seed = 1;
  double task_ms = 100;  // Time of a task on a worker.
  bool agreement_alone =
      // Jobs need only agreement of workers: shows what happens without verification.
      false;
  double seconds_max = 60;  // Time limit for each strategy.
  bool json = false;
};

// Prints the results. Returns 0 if every promise is kept and the order is the simulator's,
// otherwise 1.
[[nodiscard]] int bench_attacks_command(const BenchAttacksOptions& options);

}  // namespace weft::cli
