#include "platform/net/rate_limit.h"

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

}  // namespace weft::net
