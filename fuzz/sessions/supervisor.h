// Runs histories, each in a process of its own, several at a time, and counts them in a file, so
// that a run continues where the last one ended. A history that fails or hangs leaves its seed and
// its log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace weft::sessions {

struct RunOptions {
  double seconds = 10;
  std::uint64_t seed = 1;  // The seed of the first history, unless the state file has a later one.
  unsigned jobs = 1;
  double history_seconds_max = 240;
  std::filesystem::path state{};  // Empty: no state is stored.
  std::filesystem::path keep{};  // The folder of seeds and logs of failures. Empty: standard error.
  std::vector<std::uint64_t> replay{};  // Seeds that run first, whatever the time limit says.
};
// Prints one line at the end. Returns 0 if every history passed.
[[nodiscard]] int run_histories(const RunOptions& options);

}  // namespace weft::sessions
