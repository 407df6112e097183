// Takes from this process all that running a shader does not need: other users' files, the network,
// new programs, the parent's identity. Linux only; each part is applied if the kernel and our
// rights allow it.
//
// Called once, before any other thread exists (Landlock and seccomp reach later threads, not
// earlier ones).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weft::worker {

struct ConfinementOptions {
  std::uint64_t data_bytes_max = 0;               // RLIMIT_DATA; 0 leaves it.
  std::vector<std::filesystem::path> readable{};  // Besides what Vulkan drivers need.
  bool receives_files = false;                    // The parent sends it open files.
  bool report_refused = false;  // Refused system calls are named on standard error.
  // Each defence by itself, so that a test can see its attack succeed without it.
  bool leave_namespaces = true;
  bool drop_identity = true;
  bool restrict_files = true;
  bool filter_system_calls = true;
};

// A part that could not be applied.
struct MissingPart {
  // Without a required part (no new privileges, the system call filter, no identity of root) a
  // shader that breaks out of its driver can reach the machine. The other parts stand behind those.
  enum class Need : std::uint8_t { wanted, required };
  Need need = Need::wanted;
  std::string what;  // "it may open other files: this kernel offers no Landlock".
};

// Empty if every part was applied.
[[nodiscard]] std::vector<MissingPart> confine(const ConfinementOptions& options);

}  // namespace weft::worker
