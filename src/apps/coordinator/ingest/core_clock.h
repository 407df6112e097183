// The core's clock. It stands still while the core's thread does not run for longer than turn_max.
// A process that was stopped, starved or suspended has not read its workers' messages in that time;
// without this clock the core would take all workers for silent and end their jobs.
//
// Threading: one thread.
#pragma once

#include <chrono>
#include <optional>

#include "common/base/clock.h"

namespace weft::coordinator {

class CoreClock {
 public:
  struct Settings {
    // The most time that passes for the core between two turns of its loop; 0 removes the limit.
    // The loop turns at least once a second, and a worker counts as silent after three missed
    // heartbeats, which are three seconds.
    Duration turn_max = std::chrono::milliseconds(1500);
  };
  explicit CoreClock(Settings settings) : settings_(settings) {}
  CoreClock() : CoreClock(Settings{}) {}

  // Begins the next turn at the machine's time `at`. Returns the core's time.
  [[nodiscard]] Instant turn(Instant at) {
    if (settings_.turn_max > Duration(0) && last_ && at - *last_ > settings_.turn_max)
      stood_ += at - *last_ - settings_.turn_max;
    last_ = at;
    return at - stood_;
  }
  // The machine's time at which the core's time `core` is reached.
  [[nodiscard]] Instant of_machine(Instant core) const {
    return core > Instant::max() - stood_ ? Instant::max() : core + stood_;
  }

 private:
  const Settings settings_;
  std::optional<Instant> last_;
  Duration stood_{};
};

}  // namespace weft::coordinator
