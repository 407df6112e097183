// The names of what a worker sends, for headers that only pass it on; messages.h defines it.
#pragma once

#include <variant>

#include "common/protocol/coordinator_message.h"

namespace weft::protocol {

struct Beat;
struct Slots;
struct Bye;
using WorkerMessage = std::variant<Hello, Prove, Resume, TaskResult, Receipt, TaskFailed, Beat,
                                   Slots, Bye, Opening, Checkpoint, ErrorMessage>;

}  // namespace weft::protocol
