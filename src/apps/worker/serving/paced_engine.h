// An engine for a thread that has other things to do: the event loop gets its turn before every pass through the layers, and somebody hears when work
// begins and ends on the device, so that its waits can be pumped.
//
// Lifetime: as the engine inside.
#pragma once

#include <functional>
#include <memory>

#include "engine/llm/engine.h"

namespace weft::worker {

struct Pace {
  std::function<Async<>()> before{};        // Every pass. None where the engine waits by itself.
  std::function<void(bool begins)> work{};  // Of every call.
  std::function<void(bool begins)> pass{};  // Of those that take rows through the layers.
};

[[nodiscard]] std::unique_ptr<llm::Engine> make_paced(std::unique_ptr<llm::Engine> engine, Pace pace);

}  // namespace weft::worker
