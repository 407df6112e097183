// The process in which a native worker serves models: `weft serving-child SOCKET MEMORY_BYTES
// PARENT cpu|gpu[:ADAPTER]`, started by ServingProcess (apps/worker/native) only. It confines
// itself and then serves until the socket is closed.
#pragma once

#include <span>

#include "worker/sandbox/confinement.h"

namespace weft::worker {

// `arguments` are those after the command's name. Called before any other thread exists. The memory
// bound is added to `confinement`. Returns the exit code.
int serving_child_main(std::span<char* const> arguments, ConfinementOptions confinement = {});

}  // namespace weft::worker
