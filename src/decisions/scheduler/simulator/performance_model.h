// What n workers give:
//
//   P = N * G * E / (1 + L / C)
//
// N workers of G GFLOP/s each, of which a share E is spent on work that counts; for each task of C
// seconds of computing a worker waits L seconds for what comes and goes. Amdahl's law with the
// network as the serial part. It knows nothing of the end of a job, where some workers have nothing
// to do any more, of unlike workers, or of fetching the next task ahead, which hides L: how far off
// that makes it is in docs/performance.md.
#pragma once

#include <cstdint>

#include "common/base/result.h"

namespace weft::scheduler::simulator {

struct Network {
  double workers = 1;          // N
  double gflops = 1000;        // G, of one, in GFLOP/s
  double efficiency = 1;       // E, in (0, 1]
  double latency_seconds = 0;  // L
  double compute_seconds = 1;  // C
};

// In GFLOP/s. invalid_argument if a number cannot be.
[[nodiscard]] Result<double> performance(const Network& network);

struct PlannedJob {
  std::uint64_t tasks = 1;
  std::uint32_t replicas = 1;
};
// The whole job, all replicas, in seconds. Every task is C seconds of one worker.
[[nodiscard]] Result<double> job_seconds(const Network& network, const PlannedJob& job);

}  // namespace weft::scheduler::simulator
