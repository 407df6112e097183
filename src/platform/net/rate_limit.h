// Token buckets, one an address (of IPv6 a /64, address.h): `burst` requests at once, `per_second`
// in the long run. Strangers' addresses share a rate, too: the more of them are active, the less
// each has, so that a thousand addresses take no more of the server than a few. A known address
// (recognise()) has its own rate whole.
//
// Pure: the time is passed in. Bounded: when `addresses_max` are known, those that have been full
// the longest are forgotten (a full bucket carries no information); if none is full, the newcomer
// is refused.
#pragma once

#include <cstdint>
#include <optional>
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
    // All strangers' addresses have it together, each an equal part. 0: no bound.
    double strangers_per_second = 0;
    // What addresses have at first comes out of one bucket of ten bursts, which fills at this rate:
    // each newcomer's own is a tenth of what is there, and its burst at most. Where few come, that
    // is all of it; where a thousand come at once, later ones have only their share. 0: no bound.
    double newcomers_per_second = 0;
    // Newcomers of one network (address_prefix()) have this share of that bucket at most, since
    // who has one address of a network may have all of them. 0: no bound.
    double network_share = 0;
    double newcomer_burst = 0;  // A stranger's bucket holds so much, however small its share.
    Duration active_for = std::chrono::seconds(5);  // After its last request an address counts.
    Duration known_for = std::chrono::minutes(10);  // After recognise().
  };

  explicit RateLimit(Options options) : options_(options) {}

  // Takes `cost` tokens; false where the address has not that many left.
  [[nodiscard]] bool take(std::string_view address, double cost, Instant at);
  // The address is no stranger's, for some time. Of more than `addresses_max` the rest stay
  // strangers.
  void recognise(std::string_view address, Instant at);
  [[nodiscard]] bool is_known(std::string_view address, Instant at) const;
  // What an address has left, and after how long it has all again.
  struct Left {
    double burst = 0, remaining = 0;
    Duration whole_after{}, window{};  // `window`: what an empty bucket takes to fill.
  };
  [[nodiscard]] Left left(std::string_view address, Instant at) const;
  [[nodiscard]] std::size_t addresses() const { return buckets_.size(); }

 private:
  struct Stranger {
    TokenBucket tokens;
    std::int64_t period = -1;  // The last one of `active_for` in which it asked.
  };
  struct Known {
    TokenBucket tokens;
    Instant until;
  };
  [[nodiscard]] TokenBucket::Rate own() const {
    return {.per_second = options_.per_second, .burst = options_.burst};
  }
  // A stranger's rate, by how many are active.
  [[nodiscard]] TokenBucket::Rate share() const;
  void count(Stranger& stranger, Instant at);
  void welcome(Stranger& stranger, std::string_view address, Instant at);
  // The newcomers' bucket of the address' network; null if none is kept.
  [[nodiscard]] TokenBucket* network_of(std::string_view address, Instant at);
  [[nodiscard]] TokenBucket::Rate of_network() const;
  [[nodiscard]] bool make_room(Instant at);

  Options options_;
  std::unordered_map<std::string, Stranger> buckets_;
  std::unordered_map<std::string, Known> known_;
  // How many addresses asked in this period, and in the one before.
  std::int64_t period_ = -1;
  std::size_t active_ = 0, active_before_ = 0;
  TokenBucket newcomers_;
  std::unordered_map<std::string, TokenBucket> networks_;   // Whose newcomers came lately.
  std::optional<Instant> looked_{}, looked_at_networks_{};  // For room, without finding any.
};

}  // namespace weft::net
