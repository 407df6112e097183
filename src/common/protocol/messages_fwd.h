// Declares the messages of a worker, for headers that only pass them on; messages.h defines them.
#pragma once

#include <variant>

#include "common/protocol/coordinator_message.h"

namespace weft::protocol {

struct Beat;
struct Slots;
struct Bye;
using WorkerMessage = std::variant<Hello, Prove, Resume, TaskResult, Receipt, TaskFailed, Beat,
                                   Slots, Bye, Opening, Checkpoint, ErrorMessage, States>;

}  // namespace weft::protocol
