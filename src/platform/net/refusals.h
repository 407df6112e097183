// Computes how long an address waits for the answer to a refused request. Without this wait a peer
// that is refused again and again would take as much of the server by its refusals as by its
// requests, because it comes back at once. Pure: the time is passed in. Bounded: if `addresses_max`
// addresses are known, the addresses without a recent refusal are forgotten; if every address has a
// recent refusal, a new address waits for `wait_max`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/base/clock.h"
#include "common/base/token_bucket.h"

namespace weft::net {

class Refusals {
 public:
  struct Options {
    std::size_t at_once = 8;
    Duration another_every = std::chrono::seconds(10);  // Time until one more is answered at once.
    // Longest wait of a refusal; 0: no refusal waits.
    Duration wait_max = std::chrono::seconds(30);
    std::size_t addresses_max = 65536;
  };
  explicit Refusals(Options options) : options_(options) {}

  // Counts a refusal of the address. Returns how long its answer waits.
  [[nodiscard]] Duration count(std::string_view address, Instant at);
  [[nodiscard]] std::size_t addresses() const { return of_.size(); }

 private:
  [[nodiscard]] TokenBucket::Rate rate() const {
    return {.per_second = 1 / seconds(options_.another_every),
            .burst = static_cast<double>(options_.at_once)};
  }
  const Options options_;
  // A level below zero counts refusals over the bound.
  std::unordered_map<std::string, TokenBucket> of_;
  std::optional<Instant> looked_{};  // Time of the last search for room.
};

}  // namespace weft::net
