// An engine for a thread that has other things to do: the event loop gets its turn before every call, and somebody hears when work
// begins and ends on the device, so that its waits can be pumped. Where a share of the time is asked for, calls that took t are
// followed by a rest of t * (1 - share) / share, and nothing is drawn ahead.
//
// Lifetime: as the engine inside.
#pragma once

#include <functional>
#include <memory>

#include "common/base/clock.h"
#include "engine/llm/engine.h"

namespace weft::worker {

struct Pace {
  std::function<Async<>()> before{};        // Every call. None where the engine waits by itself.
  std::function<void(bool begins)> work{};  // Of every call.
  std::function<double()> share{};          // In (0, 1], asked before every call; 1 where there is none.
  std::function<Async<>(Duration)> rest{};  // There where `share` is.
};

[[nodiscard]] std::unique_ptr<llm::Engine> make_paced(std::unique_ptr<llm::Engine> engine, Pace pace);

}  // namespace weft::worker
