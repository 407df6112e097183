// Measures how much of its time a thread works, minute by minute, and reports when it is too busy.
// Pure: the time is passed in. One thread.
#pragma once

#include <chrono>

#include "common/base/clock.h"

namespace weft::coordinator {

class BusyShare {
 public:
  static constexpr auto window = std::chrono::minutes(1);
  static constexpr double busy_max = 0.75;  // A thread should have a quarter of its time to spare.
  static constexpr auto say_again_after = std::chrono::minutes(10);

  // Counts work from `begin` to `end`. Returns true if the operator should be warned: the last
  // whole window was busier than busy_max, and the last warning is at least say_again_after old.
  [[nodiscard]] bool worked(Instant begin, Instant end) {
    if (window_began_ == Instant()) window_began_ = begin;
    busy_ += end - begin;
    const Duration passed = end - window_began_;
    if (passed < window) return false;
    share_ = seconds(busy_) / seconds(passed);
    window_began_ = end;
    busy_ = {};
    if (share_ <= busy_max || (said_ != Instant() && end - said_ < say_again_after)) return false;
    said_ = end;
    return true;
  }
  // The busy share of the last whole window.
  [[nodiscard]] double share() const { return share_; }

 private:
  Instant window_began_{};
  Duration busy_{};
  double share_ = 0;
  Instant said_{};
};

}  // namespace weft::coordinator
