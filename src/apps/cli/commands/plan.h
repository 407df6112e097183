// `weft plan`: what n workers would give, by P = N * G * E / (1 + L / C), before they join; and
// what the scheduler makes of them in simulated time, which knows the end of a job and tasks that
// are fetched ahead.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace weft::cli {

struct PlanOptions {
  std::vector<std::uint32_t> workers = {1, 10, 100, 1000};  // N, a row each.
  double gflops = 1000;                                     // G, of one worker.
  double efficiency = 1;                                    // E
  double latency_ms = 50;                                   // In L: there and back.
  double task_mbytes = 0;                                   // In L: what a task fetches and sends,
  double mbit = 100;                                        // over a worker's connection.
  std::optional<double> task_ms{};                          // C; or
  double task_gflop = 1000;                                 // the work of a task: C = work / G.
  std::uint32_t tasks = 10'000;                             // Tasks of the job.
  std::uint32_t replicas = 1;
  bool simulate = false;
  std::uint32_t slots = 2;  // Slots of a worker, in the simulation.
  double spread = 0.3;      // Spread of the tasks' times, in the simulation: a log-normal's sigma.
  bool json = false;
};

// Gives the exit code.
int plan_command(const PlanOptions& options);

}  // namespace weft::cli
