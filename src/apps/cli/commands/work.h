// `weft work`: on one GPU, in this process; or with `--adapter all`, or several numbers, a worker
// for each of these GPUs, in a process and with a wallet of its own (a worker is known by its key:
// two with one would throw each other out).
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
  std::string adapter;  // Numbers in `weft bench gpu --list`, with commas between, or "all"; empty:
                        // the best one.
};

// Ends with a signal, or when all of its workers have ended. Exit code: as worker::work_command()
// has it; of several, the first that is not 0.
[[nodiscard]] int work_command(const WorkCommand& command);

// Which GPUs `adapter` means; "all": the hardware, or if there is none the best of the software.
// invalid_argument for what is not a number or comes twice, not_found for a number that there is
// not, unavailable if there is no GPU.
[[nodiscard]] Result<std::vector<std::size_t>> chosen_gpus(
    std::string_view adapter, std::span<const gpu::AdapterInfo> adapters);
// The wallet of the n-th worker: the first has the named one, wallet.json is followed by
// wallet-2.json.
[[nodiscard]] std::filesystem::path wallet_of_worker(const std::filesystem::path& wallet,
                                                     std::size_t n);
// `weft work` for one GPU with these options, behind the program's name.
[[nodiscard]] std::vector<std::string> work_arguments(const worker::WorkOptions& options);

}  // namespace weft::cli
