// An engine that never waits, such as the processor's, made to let the Worker's other messages through: before every token and
// every part of a prompt it waits for a turn of the event loop, so that an answer can be cancelled while it is written. Turns also
// unwind the stack, which coroutines that never wait would let grow.
//
// Lifetime: as the engine inside.
#pragma once

#include <functional>
#include <memory>

#include "engine/llm/engine.h"

namespace weft::llm_web {

// Done when the event loop comes round again.
using Turn = std::function<Async<>()>;

[[nodiscard]] std::unique_ptr<llm::Engine> make_patient(std::unique_ptr<llm::Engine> engine, Turn turn);

}  // namespace weft::llm_web
