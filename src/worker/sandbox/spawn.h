// Starts a process for strangers' data: this program again, with a socket to its parent and no
// other resource of the parent. The child first calls enter_confined_child().
//
// Threading: any thread; the kernel ends the child with the thread that started it.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "worker/sandbox/confinement.h"

namespace weft::worker {

struct SpawnedChild {
  pid_t pid = 0;
  int socket = -1;  // The parent's end of the socket to the child.
  int errors = -1;  // The child's standard output and error, non-blocking.
};

// The descriptor of the socket in the child.
inline constexpr int child_socket = 3;

// `words` follow the program's name. The environment has only variables that lead to a driver; if
// `driver`, a JSON file, is given, it is the only Vulkan driver.
[[nodiscard]] Result<SpawnedChild> spawn_child(const std::filesystem::path& program,
                                               const std::vector<std::string>& words,
                                               const std::filesystem::path& driver = {});

// Describes a status of waitpid(), such as "was ended by signal 9 (Killed)".
[[nodiscard]] std::string describe_end(int status);

// Called in the child before any other thread exists. The child ends with its parent, ignores
// Ctrl-C, closes every descriptor that it should not have, and confines itself. `missing` receives
// the parts of the confinement that could not be applied. Returns false if the parent has ended
// already.
[[nodiscard]] bool enter_confined_child(pid_t parent, int socket,
                                        const ConfinementOptions& confinement,
                                        std::vector<MissingPart>& missing);
// Packs the payload of the first frame to the parent.
[[nodiscard]] ByteVector pack_missing(std::span<const MissingPart> missing);
[[nodiscard]] Result<std::vector<MissingPart>> unpack_missing(ByteSpan payload);

}  // namespace weft::worker
