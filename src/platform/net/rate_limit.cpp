#include "platform/net/rate_limit.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "platform/net/address.h"

namespace weft::net {

namespace {

constexpr Duration look_for_room_every = std::chrono::milliseconds(100);
constexpr double newcomers_bursts = 10;  // Size of the bucket for new addresses, in bursts.

}  // namespace

TokenBucket::Rate RateLimit::share() const {
  const TokenBucket::Rate whole = own();
  if (options_.strangers_per_second <= 0 || whole.per_second <= 0) return whole;
  const auto active = static_cast<double>(std::max<std::size_t>({active_, active_before_, 1}));
  const double rate = std::min(whole.per_second, options_.strangers_per_second / active);
  return {.per_second = rate,
          .burst = std::min(whole.burst, std::max(options_.newcomer_burst,
                                                  whole.burst * rate / whole.per_second))};
}

TokenBucket::Rate RateLimit::of_network() const {
  return {.per_second = options_.network_share * options_.newcomers_per_second,
          .burst = options_.network_share * newcomers_bursts * options_.burst};
}

TokenBucket* RateLimit::network_of(std::string_view address, Instant at) {
  if (options_.network_share <= 0) return nullptr;
  // `address` may be a group (address_group()) instead of a single address.
  std::string prefix = address_prefix(address.substr(0, address.find('/')));
  if (prefix.empty()) return nullptr;
  const TokenBucket::Rate rate = of_network();
  if (networks_.size() >= options_.addresses_max && !networks_.contains(prefix)) {
    if (looked_at_networks_ && at - *looked_at_networks_ < look_for_room_every) return nullptr;
    looked_at_networks_ = at;
    std::erase_if(networks_, [&](auto& entry) {
      entry.second.refill(rate, at);
      return entry.second.full(rate);
    });
    if (networks_.size() >= options_.addresses_max) return nullptr;
  }
  TokenBucket& bucket = networks_[std::move(prefix)];
  bucket.refill(rate, at);
  return &bucket;
}

// Gives a new address its first tokens: not a full bucket, but its part of the tokens for
// newcomers.
void RateLimit::welcome(Stranger& stranger, std::string_view address, Instant at) {
  const TokenBucket::Rate rate = share();
  stranger.tokens.refill(rate, at);
  if (options_.strangers_per_second <= 0 || options_.newcomers_per_second <= 0) return;
  const TokenBucket::Rate all{.per_second = options_.newcomers_per_second,
                              .burst = newcomers_bursts * options_.burst};
  newcomers_.refill(all, at);
  double first = std::min(newcomers_.level() / newcomers_bursts, rate.burst);
  if (TokenBucket* const network = network_of(address, at)) {
    first = std::min(first, network->level() / (newcomers_bursts * options_.network_share));
    network->spend(of_network(), first);
  }
  newcomers_.spend(all, first);
  stranger.tokens.spend(rate, rate.burst - first);
}

void RateLimit::count(Stranger& stranger, Instant at) {
  const std::int64_t period =
      at.time_since_epoch() / std::max<Duration>(options_.active_for, Duration(1));
  if (period != period_) {
    active_before_ = period == period_ + 1 ? active_ : 0;
    active_ = 0;
    period_ = period;
  }
  if (std::exchange(stranger.period, period) != period) ++active_;
}

// Because a search through all buckets costs as much as thousands of requests, searches are
// limited: if an attack has more addresses than fit, one search serves many newcomers.
bool RateLimit::make_room(Instant at) {
  if (buckets_.size() < options_.addresses_max) return true;
  if (looked_ && at >= *looked_ && at - *looked_ < look_for_room_every) return false;
  std::erase_if(buckets_, [&, rate = share()](auto& entry) {
    entry.second.tokens.refill(rate, at);
    return entry.second.tokens.full(rate);
  });
  const bool found = buckets_.size() < options_.addresses_max;
  looked_ = found ? std::nullopt : std::optional(at);
  return found;
}

bool RateLimit::take(std::string_view address, double cost, Instant at) {
  std::string key = address_group(address);
  if (const auto known = known_.find(key); known != known_.end() && at < known->second.until) {
    known->second.tokens.refill(own(), at);
    return known->second.tokens.take(cost);
  }
  auto found = buckets_.find(key);
  if (found == buckets_.end()) {
    if (!make_room(at)) return false;
    found = buckets_.emplace(std::move(key), Stranger()).first;
    count(found->second, at);
    welcome(found->second, address, at);
  }
  count(found->second, at);
  found->second.tokens.refill(share(), at);
  return found->second.tokens.take(cost);
}

void RateLimit::recognise(std::string_view address, Instant at) {
  std::string key = address_group(address);
  auto found = known_.find(key);
  if (found == known_.end()) {
    if (known_.size() >= options_.addresses_max)
      std::erase_if(known_, [&](const auto& entry) { return entry.second.until <= at; });
    if (known_.size() >= options_.addresses_max) return;
    found = known_.emplace(std::move(key), Known()).first;
  }
  found->second.until = std::max(found->second.until, at + options_.known_for);
}

bool RateLimit::is_known(std::string_view address, Instant at) const {
  const auto found = known_.find(address_group(address));
  return found != known_.end() && at < found->second.until;
}

RateLimit::Left RateLimit::left(std::string_view address, Instant at) const {
  const std::string key = address_group(address);
  const auto known = known_.find(key);
  const bool is_known = known != known_.end() && at < known->second.until;
  const TokenBucket::Rate rate = is_known ? own() : share();
  Left out{.burst = rate.burst, .remaining = rate.burst};
  const auto remaining = [&](TokenBucket bucket) {
    bucket.refill(rate, at);
    out.remaining = std::clamp(bucket.level(), 0.0, rate.burst);
  };
  if (is_known) {
    remaining(known->second.tokens);
  } else if (const auto found = buckets_.find(key); found != buckets_.end()) {
    remaining(found->second.tokens);
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
