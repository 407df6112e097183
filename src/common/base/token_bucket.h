// A token bucket: `burst` tokens at once, `per_second` in the long run. Pure: the time is passed
// in. Not safe to share between threads.
#pragma once

#include <algorithm>

#include "common/base/clock.h"

namespace weft {

class TokenBucket {
 public:
  struct Rate {
    double per_second = 0;
    double burst = 0;  // The most tokens that the bucket holds.
  };

  // Adds the tokens for the time since the last call; the first call fills the bucket. A clock that
  // stands still or runs backwards adds no tokens.
  void refill(const Rate& rate, Instant now) {
    level_ =
        begun_ ? std::min(rate.burst, level_ + std::max(0.0, seconds(now - at_)) * rate.per_second)
               : rate.burst;
    at_ = begun_ ? std::max(at_, now) : now;
    begun_ = true;
  }

  // Takes `tokens`. Returns false and takes nothing if there are fewer.
  [[nodiscard]] bool take(double tokens) {
    if (level_ < tokens) return false;
    level_ -= tokens;
    return true;
  }

  // Takes tokens that are already spent, even if the level becomes negative (a debt); a negative
  // number gives tokens back, up to the burst.
  void spend(const Rate& rate, double tokens) { level_ = std::min(rate.burst, level_ - tokens); }

  // The tokens at the last refill, minus the tokens that were taken since.
  [[nodiscard]] double level() const { return level_; }
  [[nodiscard]] bool full(const Rate& rate) const { return level_ >= rate.burst; }

 private:
  double level_ = 0;
  Instant at_{};
  bool begun_ = false;
};

}  // namespace weft
