// Starts a process for strangers' data: this program again, with a socket to its parent and nothing
// else of it. What it does first is enter_confined_child().
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
  int socket = -1;  // To the child,
  int errors = -1;  // and what it writes to its standard output and error; does not block.
};

// The number that the child knows its socket by.
inline constexpr int child_socket = 3;

// `words` follow the program's name. The environment has only what leads to a driver; of Vulkan's
// only `driver`, a JSON file, where one is given.
[[nodiscard]] Result<SpawnedChild> spawn_child(const std::filesystem::path& program,
                                               const std::vector<std::string>& words,
                                               const std::filesystem::path& driver = {});

// "was ended by signal 9 (Killed)", of a status of waitpid().
[[nodiscard]] std::string describe_end(int status);

// In the child, before any other thread exists: it dies with its parent, leaves Ctrl-C to it,
// closes every descriptor that it should not have, and confines itself. `missing` is what of the
// confinement could not be applied. False if the parent is gone already.
[[nodiscard]] bool enter_confined_child(pid_t parent, int socket,
                                        const ConfinementOptions& confinement,
                                        std::vector<MissingPart>& missing);
// What the parent reads first, in a frame of its own.
[[nodiscard]] ByteVector pack_missing(std::span<const MissingPart> missing);
[[nodiscard]] Result<std::vector<MissingPart>> unpack_missing(ByteSpan payload);

}  // namespace weft::worker
