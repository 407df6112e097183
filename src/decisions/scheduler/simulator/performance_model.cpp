#include "decisions/scheduler/simulator/performance_model.h"

#include <cmath>

namespace weft::scheduler::simulator {

Result<double> performance(const Network& network) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  if (!positive(network.workers) || !positive(network.gflops) ||
      !positive(network.compute_seconds)) {
    return fail(ErrorCode::invalid_argument,
                "The number of workers ({}), their GFLOP/s ({}) and the seconds of a task ({}) "
                "must be above 0.",
                network.workers, network.gflops, network.compute_seconds);
  }
  if (!positive(network.efficiency) || network.efficiency > 1) {
    return fail(ErrorCode::invalid_argument, "The efficiency ({}) must be above 0 and at most 1.",
                network.efficiency);
  }
  if (!std::isfinite(network.latency_seconds) || network.latency_seconds < 0) {
    return fail(ErrorCode::invalid_argument, "The latency ({} s) must not be negative.",
                network.latency_seconds);
  }
  return network.workers * network.gflops * network.efficiency /
         (1 + network.latency_seconds / network.compute_seconds);
}

Result<double> job_seconds(const Network& network, const PlannedJob& job) {
  auto gflops = performance(network);
  if (!gflops) return pass(std::move(gflops));
  const double work =
      static_cast<double>(job.tasks) * job.replicas * network.compute_seconds * network.gflops;
  return work / *gflops;
}

}  // namespace weft::scheduler::simulator
