// A set of pairs of a time and a thing to look at, the earliest first.
#pragma once

#include <optional>
#include <set>
#include <utility>

#include "common/base/clock.h"

namespace weft::scheduler {

template <class What>
class Timers {
 public:
  void set(Instant at, const What& what) { set_.insert({at, what}); }
  void cancel(Instant at, const What& what) { set_.erase({at, what}); }
  [[nodiscard]] std::optional<Instant> next() const {
    return set_.empty() ? std::nullopt : std::optional(set_.begin()->first);
  }
  // Returns the earliest entry if its time has come, and keeps it in the set.
  [[nodiscard]] std::optional<What> due(Instant now) const {
    if (set_.empty() || set_.begin()->first > now) return {};
    return set_.begin()->second;
  }
  // Returns the earliest entry if its time has come, and removes it from the set.
  [[nodiscard]] std::optional<What> take_due(Instant now) {
    auto what = due(now);
    if (what) set_.erase(set_.begin());
    return what;
  }

 private:
  std::set<std::pair<Instant, What>> set_;
};

}  // namespace weft::scheduler
