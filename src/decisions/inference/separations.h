// Pairs of workers that are kept apart because one reported that the other broke a chain.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::inference {

// A worker's report about another worker proves nothing: the reporter itself may have failed, or
// may lie. Therefore both are treated alike: for a time they are neighbours in a chain only if no
// other chain is possible. This rule alone leaves out a worker that blames all others, or that all
// others blame. Workers are known by their keys, so that a new connection does not end a
// separation. Not for several threads.
class Separations {
 public:
  static constexpr std::size_t pairs_max = 65'536;

  // Adds a pair. A full table takes no further pair until forget() makes room.
  void add(const PublicKey& a, const PublicKey& b, Instant until) {
    if (a == b || (pairs_.size() >= pairs_max && !pairs_.contains(pair_of(a, b)))) return;
    Instant& end = pairs_[pair_of(a, b)];
    end = std::max(end, until);
  }
  [[nodiscard]] bool apart(const PublicKey& a, const PublicKey& b) const {
    return !pairs_.empty() && pairs_.contains(pair_of(a, b));
  }
  // Forgets the pairs whose time has ended.
  void forget(Instant now) {
    std::erase_if(pairs_, [now](const auto& entry) { return entry.second <= now; });
  }

 private:
  using Pair = std::pair<PublicKey, PublicKey>;  // Two keys, the smaller one first.
  [[nodiscard]] static Pair pair_of(const PublicKey& a, const PublicKey& b) {
    return a < b ? Pair(a, b) : Pair(b, a);
  }

  std::map<Pair, Instant> pairs_;
};

}  // namespace weft::inference
