// `weft bench gpu`: measures this machine's GPU and prints a table, or with --json one document.
#pragma once

#include <cstddef>
#include <optional>

namespace weft::cli {

struct BenchGpuOptions {
  std::optional<std::size_t> adapter;  // Its number in the list of adapters; the best one without.
  bool list = false;                   // Only lists the adapters.
  bool strangers = false;  // With validation and bounds checks on, as strangers' shaders run.
  bool json = false;
};

// Prints the results to standard output and gives the exit code.
int bench_gpu_command(const BenchGpuOptions& options);

}  // namespace weft::cli
