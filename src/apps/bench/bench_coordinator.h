// `weft bench coordinator`: what a coordinator on this machine does in a second, beside other
// queues with the same guarantee.
//
// A real coordinator (`weft serve`, a process of its own) with a data folder on disk, real
// WebSockets on loopback, workers that do no work but follow the whole protocol
// (apps/bench/coordinator). Nothing counts before it is durable. A lifecycle is one task: one
// submit, one lease and one result in flight on a connection, for the peers too (bench/peers/*.sh).
// Rounds alternate between us and the peers; a value is the median of the rounds, beside the least
// and the most.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace weft::cli {

struct BenchCoordinatorOptions {
  std::vector<std::string> only;  // Names of rows, or their beginnings; empty: all.
  std::uint32_t rounds = 5;
  double seconds = 4;  // Length of one round.
  std::uint32_t workers = 64;
  std::uint32_t idle_latency = 10'000;  // Idle workers beside the measurement of latency,
  double offered =
      0;  // Jobs a second while latency is measured; 0: half of what lifecycle reaches.
  std::uint32_t idle_memory = 19'000;  // and of memory.
  std::uint32_t recovery_pending =
      1'000'000;  // Tasks that nothing has happened to when the coordinator starts again,
  std::uint32_t recovery_running =
      100'000;  // those that have one of two replicas, and as many that are settled;
  std::uint32_t recovery_jobs = 10'000;  // all of so many jobs.
  std::filesystem::path
      folder;  // Where all programs keep their data; empty: the system's temporary folder.
  bool json = false;
};

// One row of the --json document. Names are part of the interface.
struct BenchCoordinatorRow {
  std::string name;
  double value = 0;
  std::string unit;
  std::string peer;  // Empty: measured against the goal alone.
  double peer_value = 0;
  double ratio = 0;  // value / peer_value; 0 without a peer.
  std::string goal;
  bool reached = false;
  double min = 0, max = 0, peer_min = 0, peer_max = 0;
  std::uint32_t rounds = 0;
  std::string guarantee;
  std::string note;  // What else was seen, or why a peer has no value.
};

// Prints the results to standard output and gives the exit code.
[[nodiscard]] int bench_coordinator_command(const BenchCoordinatorOptions& options);

}  // namespace weft::cli
