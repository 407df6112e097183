// `weft bench coordinator`: measures the work that a coordinator on this machine can do in a
// second, compared with other queues that give an equal guarantee (peers).
//
// It uses a real coordinator (`weft serve` as a separate process) with a data folder on disk, real
// WebSockets on loopback, and workers that follow the whole protocol but do no work
// (apps/bench/coordinator). Only durable results count. A lifecycle is one task: one submission,
// one lease and one result in flight on a connection, also for the peers (bench/peers/*.sh). Rounds
// alternate between the coordinator and the peers. A value is the median of the rounds; the minimum
// and maximum are reported too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace weft::cli {

struct BenchCoordinatorOptions {
  std::vector<std::string> only;  // Rows to run, by name or prefix; empty: all.
  std::uint32_t rounds = 5;
  double seconds = 4;  // Length of one round.
  std::uint32_t workers = 64;
  std::uint32_t idle_latency = 10'000;  // Idle workers while latency is measured.
  double offered =
      0;  // Jobs a second while latency is measured; 0: half the rate of the row lifecycle.
  std::uint32_t idle_memory = 19'000;  // Idle workers while memory is measured.
  std::uint32_t recovery_pending =
      1'000'000;  // Recovery: tasks that were not leased before the restart.
  std::uint32_t recovery_running =
      // Recovery: running tasks, with one of two replicas; equally many tasks are settled.
      100'000;
  std::uint32_t recovery_jobs = 10'000;  // Recovery: number of jobs to which the tasks belong.
  std::filesystem::path
      folder;  // Data folder of all programs; empty: the system's temporary folder.
  bool json = false;
};

// One row of the --json document. The member names are part of the interface.
struct BenchCoordinatorRow {
  std::string name;
  double value = 0;
  std::string unit;
  std::string peer;  // The peer's name; empty for a row that has only a goal.
  double peer_value = 0;
  double ratio = 0;  // value / peer_value; 0 without a peer.
  std::string goal;
  bool reached = false;
  double min = 0, max = 0, peer_min = 0, peer_max = 0;
  std::uint32_t rounds = 0;
  std::string guarantee;
  std::string note;  // Further observations, or why the peer has no value.
};

// Prints the results to standard output and returns the exit code.
[[nodiscard]] int bench_coordinator_command(const BenchCoordinatorOptions& options);

}  // namespace weft::cli
