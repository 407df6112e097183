// `weft bench gpu`: measures this machine's GPU and prints a table, or one JSON document with
// --json.
#pragma once

#include <cstddef>
#include <optional>

namespace weft::cli {

struct BenchGpuOptions {
  std::optional<std::size_t> adapter;  // Index in the list of adapters; empty: the best adapter.
  bool list = false;                   // Lists the adapters and measures nothing.
  bool strangers = false;  // Validates shaders and checks bounds, as for strangers' shaders.
  bool json = false;
};

// Prints the results to standard output and returns the exit code.
int bench_gpu_command(const BenchGpuOptions& options);

}  // namespace weft::cli
