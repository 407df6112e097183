// The performance of a network of N workers:
//
//   P = N * G * E / (1 + L / C)
//
// Each of the N workers has G GFLOP/s, and a share E of its work counts. For each task of C seconds
// of computing a worker waits L seconds for transfers. This is Amdahl's law with the network as the
// serial part. The model leaves out three things: workers without a task at the end of a job,
// workers of different speeds, and the next task that is fetched ahead, which hides L.
// docs/performance.md says how far off the model is.
#pragma once

#include <cstdint>

#include "common/base/result.h"

namespace weft::scheduler::simulator {

struct Network {
  double workers = 1;          // N of the formula: the number of workers
  double gflops = 1000;        // G of the formula: GFLOP/s of one worker
  double efficiency = 1;       // E of the formula, in (0, 1]
  double latency_seconds = 0;  // L in the formula: seconds of latency
  double compute_seconds = 1;  // C in the formula: seconds of computing
};

// The performance in GFLOP/s. Fails with invalid_argument if a number is out of range.
[[nodiscard]] Result<double> performance(const Network& network);

struct PlannedJob {
  std::uint64_t tasks = 1;
  std::uint32_t replicas = 1;
};
// The time of the whole job with all replicas, in seconds. Every task takes C seconds of one
// worker.
[[nodiscard]] Result<double> job_seconds(const Network& network, const PlannedJob& job);

}  // namespace weft::scheduler::simulator
