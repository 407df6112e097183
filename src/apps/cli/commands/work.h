// `weft work` runs a worker on one GPU, in this process. With `--adapter all` or several numbers it
// starts a process with a wallet of its own for each GPU, because a worker is identified by its
// key: two workers with one key would replace each other.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "apps/worker/native/work_command.h"
#include "common/base/result.h"
#include "engine/gpu/types.h"

namespace weft::cli {

struct WorkCommand {
  worker::WorkOptions options;
  // Numbers of `weft bench gpu --list`, separated by commas, or "all"; empty: the best one.
  std::string adapter;
};

// Runs until a signal, or until all workers have ended. Returns the exit code of
// worker::work_command(); for several workers, the first that is not 0.
[[nodiscard]] int work_command(const WorkCommand& command);

// Returns the numbers of the GPUs that `adapter` names. "all" means the hardware GPUs, or else the
// best software one. Fails with invalid_argument for a text that is no number or occurs twice, with
// not_found for a number without a GPU, and with unavailable if there is no GPU.
[[nodiscard]] Result<std::vector<std::size_t>> chosen_gpus(
    std::string_view adapter, std::span<const gpu::AdapterInfo> adapters);
// Returns the wallet file of the n-th worker: `wallet` for the first; wallet.json is followed by
// wallet-2.json.
[[nodiscard]] std::filesystem::path wallet_of_worker(const std::filesystem::path& wallet,
                                                     std::size_t n);
// The arguments of `weft work` for one GPU with these options, without the program's name.
[[nodiscard]] std::vector<std::string> work_arguments(const worker::WorkOptions& options);

}  // namespace weft::cli
