// The passage of one event through the referee: the decisions of the votes that are still to be
// handled, and the rulings so far.
#pragma once

#include <algorithm>
#include <deque>
#include <iterator>
#include <vector>

#include "common/base/clock.h"
#include "decisions/trust/rulings.h"
#include "decisions/trust/vote_types.h"

namespace weft::trust {

struct RefereePass {
  UnixMillis now = 0;
  std::deque<Decision> todo = {};
  std::vector<Ruling> out = {};

  void add(std::vector<Decision> decisions) {
    std::ranges::move(decisions, std::back_inserter(todo));
  }
};

}  // namespace weft::trust
