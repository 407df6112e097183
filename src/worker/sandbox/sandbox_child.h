// The process in which strangers' shaders and models run: `weft sandbox-child SOCKET MEMORY_BYTES
// PARENT [DUTY] [ADAPTER]`, started by Sandbox only. It confines itself, opens its own device, and
// then answers frames (sandbox_wire.h) one at a time until the socket is closed.
#pragma once

#include <span>

#include "worker/sandbox/confinement.h"

namespace weft::worker {

// `arguments` are those after the command's name. Called before any other thread exists. The memory
// bound is added to `confinement`. Returns the exit code.
int sandbox_child_main(std::span<char* const> arguments, ConfinementOptions confinement = {});

}  // namespace weft::worker
