// Wraps an engine so that the Worker handles its other messages while an answer is computed. A
// message can then cancel the answer during the prompt or between tokens. Without the wrapper, the
// processor's engine never waits, and a GPU's engine takes a whole prompt at once.
//
// Lifetime: as the wrapped engine.
#pragma once

#include <functional>
#include <memory>

#include "engine/llm/engine.h"

namespace weft::llm_web {

struct Pauses {
  using Pause = std::function<Async<>()>;
  Pause before_draw{};    // Waits before a draw; empty if the engine itself waits.
  Pause between_parts{};  // Called before every part but a prompt's first.
};

[[nodiscard]] std::unique_ptr<llm::Engine> make_patient(std::unique_ptr<llm::Engine> engine,
                                                        Pauses pauses);

}  // namespace weft::llm_web
