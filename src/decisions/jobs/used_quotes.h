// Which quotes were used: each counts for one job, so that a price of a quiet moment does not hold
// for a thousand jobs of a busy one. A quote is remembered as long as it holds; after a restart one
// counts once more.
//
// Pure. Bounds: quotes_max at a time.
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
  // Whether there is room for another one.
  [[nodiscard]] bool is_full(UnixMillis now) {
    while (!quotes_.empty() && quotes_.begin()->first < now) quotes_.erase(quotes_.begin());
    return quotes_.size() >= quotes_max;
  }
  void use(const Id& id, UnixMillis until) { quotes_.emplace(until, id); }

 private:
  std::set<std::pair<UnixMillis, Id>> quotes_;
};

}  // namespace weft::jobs
