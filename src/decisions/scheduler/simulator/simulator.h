// Simulates a network in simulated time under the real scheduler: workers of given speeds and
// latencies, tasks that take longer or shorter than predicted, and runs that stall. Everything
// follows from the setup and its seed. The log says which worker got which task at which time;
// log_checker.h reads it.
//
// If Settings::checkpoint_min is not 0, long tasks store a checkpoint after each twentieth of their
// work, make way, and continue on other workers.
//
// The simulation leaves out trust (every result counts at once), canaries (the tasks' time is
// known), and failures.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/result.h"
#include "decisions/scheduler/types.h"

namespace weft::scheduler::simulator {

struct SimulatedJob {
  double at = 0;  // Time of submission, in seconds. Jobs are in this order.
  std::uint32_t tasks = 1;
  double task_seconds = 1;  // Predicted time on an idle worker of the reference rate.
  std::uint32_t replicas = 1;
  std::uint32_t priority = 50;
  std::uint64_t client = 0;
  double share = 1;  // The client's weight.
  std::uint64_t memory_bytes = 0;
};

struct SimulatedWorker {
  double rate = 1;  // Speed in TFLOP/s; the reference has 1.
  std::uint32_t slots = 1;
  Sharing sharing = Sharing::in_turn;
  std::uint64_t memory_bytes = std::uint64_t{1} << 40;
};

struct Scenario {
  std::vector<SimulatedWorker> workers;
  std::vector<SimulatedJob> jobs;
  double latency_seconds = 0;  // The time of a round trip.
  double spread = 0;           // Sigma of the log-normal factor, of mean 1, on a task's real time.
  double stalls = 0;           // The share of runs that take stall_factor times as long.
  double stall_factor = 20;
  std::uint64_t seed = 1;
  Settings settings = patient_settings();

  // Settings for long tasks, without checkpoints and without heartbeats, which are not simulated.
  [[nodiscard]] static Settings patient_settings();
};

struct Start {
  double at = 0;  // When the task was leased.
  std::uint32_t job = 0;
  std::uint32_t index = 0;
  std::uint32_t worker = 0;
};
struct JobEnd {
  double first_start = 0;  // When the job's first task was leased.
  double at = 0;           // When the job's last task was settled.
};

struct Log {
  std::vector<Start> starts;  // Starts of tasks in the order of the decisions.
  std::vector<JobEnd> jobs;   // Ends of jobs, by the index in Scenario::jobs.
  double seconds = 0;         // The time until all jobs were done.
  double useful_seconds = 0;  // Predicted reference seconds of all tasks, each counted once.
  std::uint64_t lease_messages = 0;
  std::uint64_t cancelled = 0;  // Leases that ended for another replica or a more urgent task.
  std::uint64_t made_way = 0;   // Runs that stopped at a checkpoint because they were asked to.
  double computed_seconds = 0;  // Reference seconds of all runs, repeated work included.
};

// Simulates the scenario. Fails with internal if tasks are left but no event is.
[[nodiscard]] Result<Log> simulate(const Scenario& setup);

// --- Shared with the baselines: the factor of a run's real time over its predicted time, and keys
// and ids made from numbers.
[[nodiscard]] double real_factor(const Scenario& setup, std::uint32_t job, std::uint32_t index,
                                 std::uint32_t attempt);

}  // namespace weft::scheduler::simulator
