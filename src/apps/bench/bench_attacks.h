// `weft bench attacks`: strategies of attackers against real processes, beside the simulator's
// outcome for the same ones (decisions/trust/attacks).
//
// Each strategy has a coordinator of its own (`weft serve` with its verifier, a data folder on
// disk), and workers and clients over real sockets (apps/bench/attacks). What clients end up with
// is read from the folder after the coordinator has stopped, and compared with the truth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::cli {

struct BenchAttacksOptions {
  std::vector<std::string> strategies;  // Empty: the fourteen that differ most.
  std::uint32_t tasks = 500;            // Honest clients' tasks, for each strategy.
  std::uint32_t simulations = 20;       // Runs of each strategy.
  std::uint64_t seed = 1;
  double task_ms = 100;  // What a task takes a worker.
  bool agreement_alone =
      false;                // Clients ask for agreement alone: what happens without verification.
  double seconds_max = 60;  // For each strategy.
  bool json = false;
};

// Prints the results; 0 if every promise is kept and the order is the simulator's, 1 if not.
[[nodiscard]] int bench_attacks_command(const BenchAttacksOptions& options);

}  // namespace weft::cli
