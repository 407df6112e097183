// Measures the share of the time in which a shard's engine works, and the time of a token's pass
// through its layers. Heartbeats report both, and chains are planned with them. The engine's calls
// update it; times are passed in.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/clock.h"

namespace weft::worker {

class Meter {
 public:
  // Called at the begin and end of every call; calls may overlap.
  void work(bool begins, Instant now) {
    if (begins) {
      if (under_way_++ == 0) since_ = now;
    } else if (--under_way_ == 0) {
      busy_ += now - since_;
    }
  }
  // Called at the begin and end of calls that take rows through the layers. Overlapping calls slow
  // each other down, so they are not measured.
  void pass(bool begins, Instant now) {
    if (begins) {
      alone_ = passes_++ == 0;
      begun_ = now;
      return;
    }
    --passes_;
    turn(now);
    if (alone_) quickest_ = std::min(quickest_, now - begun_);
  }

  // Returns the busy time since the last call of this function.
  [[nodiscard]] Duration take_busy(Instant now) {
    if (under_way_ > 0) {
      busy_ += now - since_;
      since_ = now;
    }
    return std::exchange(busy_, {});
  }
  // Returns the time of the quickest recent pass, usually that of a pass of a single token. nullopt
  // if there was no pass.
  [[nodiscard]] std::optional<Duration> pace(Instant now) {
    turn(now);
    const Duration quickest = std::min(quickest_, before_);
    return quickest == Duration::max() ? std::nullopt : std::optional(quickest);
  }

 private:
  static constexpr Duration window = std::chrono::seconds(3);
  void turn(Instant now) {
    if (now - turned_ < window) return;
    before_ = now - turned_ < 2 * window ? quickest_ : Duration::max();
    quickest_ = Duration::max();
    turned_ = now;
  }

  int under_way_ = 0, passes_ = 0;
  bool alone_ = false;
  Instant since_{}, begun_{}, turned_{};
  Duration busy_{};
  Duration quickest_ = Duration::max(), before_ = Duration::max();
};

}  // namespace weft::worker
