// The process that strangers' shaders run in: `weft sandbox-child SOCKET MEMORY_BYTES PARENT [ADAPTER]`, started by Sandbox and by
// nobody else. It confines itself, makes its own device, and then answers frames (sandbox_wire.h) one at a time until the
// socket is closed.
#pragma once

#include <span>

namespace weft::worker {

// `arguments` are those behind the command's name. Called before any other thread exists. Returns the exit code.
int sandbox_child_main(std::span<char* const> arguments);

}  // namespace weft::worker
