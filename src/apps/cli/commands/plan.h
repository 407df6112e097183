// `weft plan`: predicts the throughput of n workers, P = N * G * E / (1 + L / C), before they join.
// It can also simulate the scheduler, which includes the end of a job and tasks that are fetched
// ahead.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace weft::cli {

struct PlanOptions {
  // N, the number of workers. The table has one row for each of these numbers.
  std::vector<std::uint32_t> workers = {1, 10, 100, 1000};
  double gflops = 1000;             // G, the rate of one worker in GFLOP/s.
  double efficiency = 1;            // E, the share of a worker's time that counts.
  double latency_ms = 50;           // Part of L: the round trip in milliseconds.
  double task_mbytes = 0;           // Part of L: megabytes that a task transfers.
  double mbit = 100;                // Speed of a worker's connection in Mbit/s.
  std::optional<double> task_ms{};  // C, the time of a task; default: task_gflop / gflops.
  double task_gflop = 1000;         // Work of a task, used without task_ms.
  std::uint32_t tasks = 10'000;     // Number of tasks of the job.
  std::uint32_t replicas = 1;
  bool simulate = false;
  std::uint32_t slots = 2;  // In the simulation: slots of a worker.
  double spread = 0.3;      // Simulation: sigma of the log-normal task times.
  bool json = false;
};

// Prints the plan. Returns the exit code.
int plan_command(const PlanOptions& options);

}  // namespace weft::cli
