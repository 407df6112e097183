// Token buckets, one for each address (for each /64 of IPv6, see address.h): `burst` requests at
// once, `per_second` in the long run. The addresses of strangers also share a rate: the more of
// them are active, the less each has, so that a thousand addresses take no more of the server than
// a few. A known address (recognise()) has a whole rate of its own.
//
// Pure: the time is passed in. Bounded: if there are `addresses_max` buckets, the full ones are
// forgotten (a full bucket carries no information); if none is full, a new address is refused.
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
    // The rate of all strangers' addresses together, shared equally. 0 means no bound.
    double strangers_per_second = 0;
    // The refill rate of the bucket that provides the first tokens of new addresses. The bucket
    // holds ten bursts, and each new address takes a tenth of its level, at most one burst. So a
    // new address starts with a whole burst if few come, and with less if a thousand come at once.
    // 0 means no bound.
    double newcomers_per_second = 0;
    // The largest share of the bucket of first tokens that new addresses of one network
    // (address_prefix()) may take, because the owner of one address of a network may have all of
    // them. 0 means no bound.
    double network_share = 0;
    double newcomer_burst = 0;                      // The least size of a stranger's bucket.
    Duration active_for = std::chrono::seconds(5);  // Period in which active addresses are counted.
    Duration known_for = std::chrono::minutes(10);  // The time for which recognise() holds.
  };

  explicit RateLimit(Options options) : options_(options) {}

  // Takes `cost` tokens; returns false if the address has fewer tokens left.
  [[nodiscard]] bool take(std::string_view address, double cost, Instant at);
  // Makes the address known for `known_for`. If `addresses_max` addresses are known, further
  // addresses stay strangers.
  void recognise(std::string_view address, Instant at);
  [[nodiscard]] bool is_known(std::string_view address, Instant at) const;
  // The tokens that an address has left, and the time until its bucket is full again.
  struct Left {
    double burst = 0, remaining = 0;
    Duration whole_after{}, window{};  // `window`: the time in which an empty bucket fills.
  };
  [[nodiscard]] Left left(std::string_view address, Instant at) const;
  [[nodiscard]] std::size_t addresses() const { return buckets_.size(); }

 private:
  struct Stranger {
    TokenBucket tokens;
    std::int64_t period = -1;  // The last period of `active_for` with a request.
  };
  struct Known {
    TokenBucket tokens;
    Instant until;
  };
  [[nodiscard]] TokenBucket::Rate own() const {
    return {.per_second = options_.per_second, .burst = options_.burst};
  }
  // The rate of one stranger, given the number of active strangers.
  [[nodiscard]] TokenBucket::Rate share() const;
  void count(Stranger& stranger, Instant at);
  void welcome(Stranger& stranger, std::string_view address, Instant at);
  // The first-token bucket of the address's network; null if networks are not bounded or too many
  // are kept.
  [[nodiscard]] TokenBucket* network_of(std::string_view address, Instant at);
  [[nodiscard]] TokenBucket::Rate of_network() const;
  [[nodiscard]] bool make_room(Instant at);

  Options options_;
  std::unordered_map<std::string, Stranger> buckets_;
  std::unordered_map<std::string, Known> known_;
  // The number of addresses that asked in the current period, and in the period before it.
  std::int64_t period_ = -1;
  std::size_t active_ = 0, active_before_ = 0;
  TokenBucket newcomers_;
  // The buckets of first tokens by network.
  std::unordered_map<std::string, TokenBucket> networks_;
  // Times of the last search for room that found none.
  std::optional<Instant> looked_{}, looked_at_networks_{};
};

}  // namespace weft::net
