// Takes from this process all rights that running a shader does not need: other users' files, the
// network, new programs, the parent's identity. Linux only; each part is applied if the kernel and
// the process's rights allow it.
//
// Called once, before any other thread exists, because Landlock and seccomp apply to later threads
// only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace weft::worker {

struct ConfinementOptions {
  std::uint64_t data_bytes_max = 0;               // The bound RLIMIT_DATA; 0 leaves it unchanged.
  std::vector<std::filesystem::path> readable{};  // Readable paths besides those of Vulkan drivers.
  bool receives_files = false;  // True if the parent sends open files to the process.
  bool report_refused = false;  // Logs refused system calls to standard error.
  // Each of the following defences can be turned off, so that a test can show that the attack
  // against it then succeeds.
  bool leave_namespaces = true;
  bool drop_identity = true;
  bool restrict_files = true;
  bool filter_system_calls = true;
};

// A part that could not be applied.
struct MissingPart {
  // The `required` parts are no new privileges, the system call filter, and no identity of root. If
  // such a part is missing, a shader that breaks out of its driver can reach the machine. The other
  // parts are additional protection.
  enum class Need : std::uint8_t { wanted, required };
  Need need = Need::wanted;
  std::string what;  // "it may open other files: this kernel offers no Landlock".
};

// Returns the parts that could not be applied.
[[nodiscard]] std::vector<MissingPart> confine(const ConfinementOptions& options);

}  // namespace weft::worker
