// Takes from this process all that running a shader does not need: other users' files, the network, new programs, the
// parent's identity. Linux only; each part is applied where the kernel and our rights allow it.
//
// Called once, before any other thread exists (Landlock and seccomp reach later threads, not earlier ones).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weft::worker {

struct ConfinementOptions {
  std::uint64_t data_bytes_max = 0;               // RLIMIT_DATA; 0 leaves it.
  std::vector<std::filesystem::path> readable{};  // Besides what Vulkan drivers need.
};

// What could not be applied, one sentence each; empty where all was.
[[nodiscard]] std::vector<std::string> confine(const ConfinementOptions& options);

}  // namespace weft::worker
