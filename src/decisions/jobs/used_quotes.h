// Quotes that were used. Each quote is good for one job, so that a price from a quiet moment does
// not hold for a thousand jobs at a busy moment. A used quote is remembered until it expires; after
// a restart it can be used once more.
//
// Pure. Bounds: at most quotes_max quotes at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "common/base/clock.h"

namespace weft::jobs {

class UsedQuotes {
 public:
  using Id = std::array<std::uint8_t, 16>;
  static constexpr std::size_t quotes_max = 100'000;

  [[nodiscard]] bool was_used(const Id& id, UnixMillis until) const {
    return quotes_.contains({until, id});
  }
  // Forgets expired quotes, and returns true if there is no room for another one.
  [[nodiscard]] bool is_full(UnixMillis now) {
    while (!quotes_.empty() && quotes_.begin()->first < now) quotes_.erase(quotes_.begin());
    return quotes_.size() >= quotes_max;
  }
  void use(const Id& id, UnixMillis until) { quotes_.emplace(until, id); }

 private:
  std::set<std::pair<UnixMillis, Id>> quotes_;
};

}  // namespace weft::jobs
