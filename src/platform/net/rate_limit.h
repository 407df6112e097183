// Token buckets, one an address (of IPv6 a /64, address.h): `burst` requests at once, `per_second`
// in the long run. Pure: the time is passed in. Bounded: when `addresses_max` are known, those that
// have been full the longest are forgotten (a full bucket carries no information); if none is full,
// the newcomer is refused.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "common/base/clock.h"
#include "common/base/token_bucket.h"

namespace weft::net {

class RateLimit {
 public:
  struct Options {
    double per_second = 50;
    double burst = 200;
    std::size_t addresses_max = 65536;
  };

  explicit RateLimit(Options options) : options_(options) {}

  // Takes `cost` tokens; false where the address has not that many left.
  [[nodiscard]] bool take(std::string_view address, double cost, Instant at);
  // What an address has left, and after how long it has all again.
  struct Left {
    double burst = 0, remaining = 0;
    Duration whole_after{}, window{};  // `window`: what an empty bucket takes to fill.
  };
  [[nodiscard]] Left left(std::string_view address, Instant at) const;
  [[nodiscard]] std::size_t addresses() const { return buckets_.size(); }

 private:
  Options options_;
  std::unordered_map<std::string, TokenBucket> buckets_;
};

}  // namespace weft::net
