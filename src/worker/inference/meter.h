// How much of the time a shard's engine works, and how long a token takes through its layers: what
// heartbeats tell, and what chains are planned by. Fed by the engine's calls; times are handed in.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/clock.h"

namespace weft::worker {

class Meter {
 public:
  // For calls, which may overlap.
  void work(bool begins, Instant now) {
    if (begins) {
      if (under_way_++ == 0) since_ = now;
    } else if (--under_way_ == 0) {
      busy_ += now - since_;
    }
  }
  // For calls that take rows through the layers. Overlapping ones hold each other up and say
  // nothing.
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

  // Time of work since the last call of this.
  [[nodiscard]] Duration take_busy(Instant now) {
    if (under_way_ > 0) {
      busy_ += now - since_;
      since_ = now;
    }
    return std::exchange(busy_, {});
  }
  // The quickest recent pass: of one token, if any was. Nothing where there was none.
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
