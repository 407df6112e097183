#include "service/net/rate_limit.h"

#include <algorithm>

namespace weft::net {

void RateLimit::refill(Bucket& bucket, Instant at) const {
  bucket.tokens = std::min(options_.burst, bucket.tokens + seconds(at - bucket.at) * options_.per_second);
  bucket.at = at;
}

bool RateLimit::take(std::string_view address, double cost, Instant at) {
  std::string key(address);
  auto found = buckets_.find(key);
  if (found == buckets_.end()) {
    if (buckets_.size() >= options_.addresses_max) {
      std::erase_if(buckets_, [&](auto& entry) {
        refill(entry.second, at);
        return entry.second.tokens >= options_.burst;
      });
      if (buckets_.size() >= options_.addresses_max) return false;
    }
    found = buckets_.emplace(std::move(key), Bucket{.tokens = options_.burst, .at = at}).first;
  }
  refill(found->second, at);
  if (found->second.tokens < cost) return false;
  found->second.tokens -= cost;
  return true;
}

}  // namespace weft::net
