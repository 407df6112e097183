// An engine for a thread that has other things to do: hear the coordinator, tell that it is alive.
// The event loop gets its turn before every call, or the call is made elsewhere, or `work` is told
// when work begins and ends on the device, so that its waits can be polled. What would take long is
// cut into parts where that changes no number. Where a share of the time is asked for, calls that
// took t are followed by a rest of t * (1 - share) / share, and nothing is drawn ahead.
//
// Lifetime: as the engine inside.
#pragma once

#include <functional>
#include <memory>

#include "common/base/clock.h"
#include "engine/llm/engine.h"

namespace weft::worker {

struct Pace {
  std::function<Async<>()> before{};  // Before every part. None where the engine waits by itself.
  std::function<void(bool begins)> work{};  // Around every part.
  std::function<void(bool begins)> pass{};  // Around the parts that take rows through the layers.
  // Makes the call, to its end, on another thread, and resumes on this one: for engines that never
  // wait.
  std::function<Async<>(std::function<void()> call)> elsewhere{};
  // The clock by which calls are cut into parts of about `part`. Only for engines whose numbers are
  // the same however positions and sequences are cut, as the CPU's are.
  std::function<Instant()> now{};
  Duration part = std::chrono::milliseconds(100);
  std::function<double()> share{};  // In (0, 1], asked before every call; 1 if there is none.
  std::function<Async<>(Duration)> rest{};  // There where `share` is.
};

[[nodiscard]] std::unique_ptr<llm::Engine> make_paced(std::unique_ptr<llm::Engine> engine,
                                                      Pace pace);

}  // namespace weft::worker
