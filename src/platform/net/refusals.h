// How long an address waits for its next refusal: a peer that is refused again and again would
// otherwise take as much of the server by its refusals as by its requests, and come back at once.
// Pure: the time is passed in. Bounded: of `addresses_max` those that have not been refused lately
// are forgotten, and if there is none, a newcomer waits longest.
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
    Duration another_every = std::chrono::seconds(10);  // One more at once.
    Duration wait_max = std::chrono::seconds(30);       // 0: none waits.
    std::size_t addresses_max = 65536;
  };
  explicit Refusals(Options options) : options_(options) {}

  // Counts a refusal of the address; how long its answer waits.
  [[nodiscard]] Duration count(std::string_view address, Instant at);
  [[nodiscard]] std::size_t addresses() const { return of_.size(); }

 private:
  [[nodiscard]] TokenBucket::Rate rate() const {
    return {.per_second = 1 / seconds(options_.another_every),
            .burst = static_cast<double>(options_.at_once)};
  }
  const Options options_;
  std::unordered_map<std::string, TokenBucket> of_;  // Below zero: how many too many.
  std::optional<Instant> looked_{};                  // For room.
};

}  // namespace weft::net
