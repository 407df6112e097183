// Decides when a failed plan of a model's chain is tried again. The time that a plan takes grows
// with the square of the number of workers, and the plan fails for the same reason until a worker
// joins or memory becomes free.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/clock.h"

namespace weft::inference {

// A failed plan is tried again after `first` if a worker joined or memory became free since; `room`
// counts these events. Otherwise it is tried again after a time that doubles up to `longest`. If
// both times are zero, it is tried again at every tick.
class PlanBackoff {
 public:
  struct Times {
    Duration first = std::chrono::milliseconds(500);
    Duration longest = std::chrono::minutes(1);
  };

  [[nodiscard]] bool may_plan(Instant now, std::uint64_t room, const Times& times) const {
    if (!failed_) return true;
    return now - at_ >= (room == room_ ? wait_ : times.first);
  }
  void failed(Instant now, std::uint64_t room, const Times& times) {
    wait_ = failed_ && room == room_ ? std::min(wait_ * 2, times.longest) : times.first;
    failed_ = true;
    at_ = now;
    room_ = room;
  }
  void worked() { failed_ = false; }

 private:
  bool failed_ = false;
  Instant at_{};
  std::uint64_t room_ = 0;
  Duration wait_{};
};

}  // namespace weft::inference
