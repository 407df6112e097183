#include "platform/net/rate_limit.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "platform/net/address.h"

namespace weft::net {

bool RateLimit::take(std::string_view address, double cost, Instant at) {
  const TokenBucket::Rate rate{.per_second = options_.per_second, .burst = options_.burst};
  std::string key = address_group(address);
  auto found = buckets_.find(key);
  if (found == buckets_.end()) {
    if (buckets_.size() >= options_.addresses_max) {
      std::erase_if(buckets_, [&](auto& entry) {
        entry.second.refill(rate, at);
        return entry.second.full(rate);
      });
      if (buckets_.size() >= options_.addresses_max) return false;
    }
    found = buckets_.emplace(std::move(key), TokenBucket()).first;
  }
  found->second.refill(rate, at);
  return found->second.take(cost);
}

RateLimit::Left RateLimit::left(std::string_view address, Instant at) const {
  const TokenBucket::Rate rate{.per_second = options_.per_second, .burst = options_.burst};
  Left out{.burst = rate.burst, .remaining = rate.burst};
  if (const auto found = buckets_.find(address_group(address)); found != buckets_.end()) {
    TokenBucket now = found->second;
    now.refill(rate, at);
    out.remaining = std::clamp(now.level(), 0.0, rate.burst);
  }
  const auto time_of = [&](double tokens) {
    return std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(rate.per_second > 0 ? tokens / rate.per_second : 0));
  };
  out.whole_after = time_of(rate.burst - out.remaining);
  out.window = time_of(rate.burst);
  return out;
}

}  // namespace weft::net
