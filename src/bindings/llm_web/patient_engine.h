// An engine made to let the Worker's other messages through, so that an answer can be cancelled
// while it is written or read. The processor's engine never waits by itself, and a GPU's takes a
// whole prompt at once.
//
// Lifetime: as the engine inside.
#pragma once

#include <functional>
#include <memory>

#include "engine/llm/engine.h"

namespace weft::llm_web {

struct Pauses {
  using Pause = std::function<Async<>()>;
  Pause before_draw{};    // None where the engine waits by itself.
  Pause between_parts{};  // Before a part of a prompt that follows on another one.
};

[[nodiscard]] std::unique_ptr<llm::Engine> make_patient(std::unique_ptr<llm::Engine> engine,
                                                        Pauses pauses);

}  // namespace weft::llm_web
