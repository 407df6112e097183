// Runs histories, each in a process of its own, several at a time, and keeps count of them in a
// file, so that a run goes on where the last one ended. A history that fails or hangs leaves its
// seed and its log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace weft::sessions {

struct RunOptions {
  double seconds = 10;
  std::uint64_t seed = 1;  // The first history's; the state's, where it has one.
  unsigned jobs = 1;
  double history_seconds_max = 240;
  std::filesystem::path state{};  // Empty: nothing is kept.
  std::filesystem::path keep{};   // Where seeds and logs of failures go; empty: on standard error.
  std::vector<std::uint64_t> replay{};  // Run first, whatever the time says.
};
// Prints one line at the end. 0 if every history held.
[[nodiscard]] int run_histories(const RunOptions& options);

}  // namespace weft::sessions
