// The core's time: it stands still while the core's thread does, beyond what a turn of its loop
// takes. A process that was stopped, starved or suspended has not read what workers said meanwhile;
// without this it would take all of them for silent, and end jobs for that.
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
    // From one turn to the next no more passes for the core; 0: all of it does. The loop turns each
    // second at least, and a beat that is missed three times is three seconds.
    Duration turn_max = std::chrono::milliseconds(1500);
  };
  explicit CoreClock(Settings settings) : settings_(settings) {}
  CoreClock() : CoreClock(Settings{}) {}

  // The next turn, at that time of the machine's.
  [[nodiscard]] Instant turn(Instant at) {
    if (settings_.turn_max > Duration(0) && last_ && at - *last_ > settings_.turn_max)
      stood_ += at - *last_ - settings_.turn_max;
    last_ = at;
    return at - stood_;
  }
  // When a time of the core's comes, by the machine's clock.
  [[nodiscard]] Instant of_machine(Instant core) const {
    return core > Instant::max() - stood_ ? Instant::max() : core + stood_;
  }

 private:
  const Settings settings_;
  std::optional<Instant> last_;
  Duration stood_{};
};

}  // namespace weft::coordinator
