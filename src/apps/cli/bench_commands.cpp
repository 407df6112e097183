#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cli/bench_gpu.h"
#include "apps/cli/commands.h"

namespace weft::cli {

void add_bench_commands(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* bench = app.add_subcommand("bench", "Measures what this machine can do");
  bench->require_subcommand(1);
  auto options = std::make_shared<BenchGpuOptions>();
  CLI::App* gpu = bench->add_subcommand("gpu", "Dispatch cost, bandwidths and matrix rates of a GPU");
  gpu->add_option("--adapter", options->adapter, "Which GPU, by its number in --list (default: the best one)");
  gpu->add_flag("--list", options->list, "List the GPUs and stop");
  gpu->add_flag("--strangers", options->strangers, "With validation and bounds checks on, as strangers' shaders run");
  gpu->add_flag("--json", options->json, "One JSON document on standard output");
  gpu->callback([options, &chosen] { chosen = [options] { return bench_gpu_command(*options); }; });
}

}  // namespace weft::cli
