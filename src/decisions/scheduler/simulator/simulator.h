// A network in simulated time under the real scheduler: workers of given speeds that are some time
// away, tasks that take longer or shorter than predicted, runs that stall. Everything follows from
// the setup and its seed. The log says who got what, when; log_checker.h reads it.
//
// Where Settings::checkpoint_min is not 0, long tasks keep a twentieth after the other, make way,
// and go on elsewhere.
//
// What is left out: trust (every result counts at once), canaries (the tasks' time is known), and
// whatever fails.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/result.h"
#include "decisions/scheduler/types.h"

namespace weft::scheduler::simulator {

struct SimulatedJob {
  double at = 0;  // Seconds; submitted then. In order.
  std::uint32_t tasks = 1;
  double task_seconds =
      1;  // On a worker of the reference rate that runs nothing else, as predicted.
  std::uint32_t replicas = 1;
  std::uint32_t priority = 50;
  std::uint64_t client = 0;
  double share = 1;  // The client's weight.
  std::uint64_t memory_bytes = 0;
};

struct SimulatedWorker {
  double rate = 1;  // TFLOP/s; the reference has one.
  std::uint32_t slots = 1;
  Sharing sharing = Sharing::in_turn;
  std::uint64_t memory_bytes = std::uint64_t{1} << 40;
};

struct Scenario {
  std::vector<SimulatedWorker> workers;
  std::vector<SimulatedJob> jobs;
  double latency_seconds = 0;  // There and back.
  double spread =
      0;  // Spread of a task's real time: a log-normal factor with this sigma and a mean of one.
  double stalls = 0;  // Share of runs that take stall_factor times as long.
  double stall_factor = 20;
  std::uint64_t seed = 1;
  Settings settings = patient_settings();

  // For long tasks, without checkpoints, and without beats, which are not sent here.
  [[nodiscard]] static Settings patient_settings();
};

struct Start {
  double at = 0;  // Leased.
  std::uint32_t job = 0;
  std::uint32_t index = 0;
  std::uint32_t worker = 0;
};
struct JobEnd {
  double first_start = 0;  // When its first task was leased.
  double at = 0;           // Its last task was settled.
};

struct Log {
  std::vector<Start> starts;  // In the order of the decisions.
  std::vector<JobEnd> jobs;   // By their number in Scenario::jobs.
  double seconds = 0;         // Until everything was done.
  double useful_seconds = 0;  // Predicted reference seconds of all tasks, each once.
  std::uint64_t lease_messages = 0;
  std::uint64_t cancelled =
      0;  // Leases that were ended because another run was first, or was more urgent.
  std::uint64_t made_way = 0;   // Runs that stopped at a checkpoint because they were asked to.
  double computed_seconds = 0;  // Reference seconds of all runs, what was done again included.
};

// internal where the network stands still with tasks left.
[[nodiscard]] Result<Log> simulate(const Scenario& setup);

// --- Shared with the baselines: what a run really takes over what is predicted, and the keys and
// ids of numbers.
[[nodiscard]] double real_factor(const Scenario& setup, std::uint32_t job, std::uint32_t index,
                                 std::uint32_t attempt);

}  // namespace weft::scheduler::simulator
