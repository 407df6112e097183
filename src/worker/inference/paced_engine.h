// An engine for a thread that must also receive messages and send heartbeats. Before every call the
// event loop runs, or the call is made on another thread, or `work` reports the begin and end of
// work on the device, so that its waits can be polled. Long calls are cut into parts if that
// changes no number. With a share below 1, a call that took t is followed by a rest of t * (1 -
// share) / share, and no tokens are drawn ahead.
//
// Lifetime: as that of the inner engine.
#pragma once

#include <functional>
#include <memory>

#include "common/base/clock.h"
#include "engine/llm/engine.h"

namespace weft::worker {

struct Pace {
  // Awaited before every part. Empty if the engine waits by itself.
  std::function<Async<>()> before{};
  std::function<void(bool begins)> work{};  // Called before and after every part.
  // Called around the parts that take rows through the layers.
  std::function<void(bool begins)> pass{};
  // Makes the whole call on another thread and resumes on this one. Only for engines that never
  // wait.
  std::function<Async<>(std::function<void()> call)> elsewhere{};
  // The clock by which calls are cut into parts of about `part`. Set it only for an engine that
  // computes the same numbers however positions and sequences are cut, such as an engine on the
  // CPU.
  std::function<Instant()> now{};
  Duration part = std::chrono::milliseconds(100);
  std::function<double()> share{};  // Returns a share in (0, 1], before every call; empty: 1.
  std::function<Async<>(Duration)> rest{};  // Set if `share` is set.
};

[[nodiscard]] std::unique_ptr<llm::Engine> make_paced(std::unique_ptr<llm::Engine> engine,
                                                      Pace pace);

}  // namespace weft::worker
