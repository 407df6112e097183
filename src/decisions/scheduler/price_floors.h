// The floors of a class: the least prices that its workers accept (`weft work --price`). It knows
// the number of workers that accept a given price, and the least price. A floor is a worker's own
// claim: it decides which jobs this worker gets, and enters no price formula.
//
// Pure. Memory: an entry for each different floor, 90 for each power of ten at most (step()).
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

#include "common/base/ids.h"

namespace weft::scheduler {

class PriceFloors {
 public:
  // Rounds the floor up to two decimal digits, because each different floor costs memory. Round
  // prices stay as they are.
  [[nodiscard]] static MicroCredits step(MicroCredits floor) {
    if (floor <= 0) return 0;
    constexpr MicroCredits most = 1'000'000'000'000'000'000;
    floor = std::min(floor, most);
    MicroCredits unit = 1;
    while (floor / unit >= 100) unit *= 10;
    return (floor - 1) / unit * unit + unit;
  }

  void add(MicroCredits floor, int change) {
    auto& count = floors_[floor];
    count += change;
    if (count <= 0) floors_.erase(floor);
  }
  // The number of workers that accept this price for a unit.
  [[nodiscard]] std::size_t within(MicroCredits per_unit) const {
    int count = 0;
    for (auto each = floors_.begin(); each != floors_.end() && each->first <= per_unit; ++each)
      count += each->second;
    return static_cast<std::size_t>(count);
  }
  [[nodiscard]] std::optional<MicroCredits> least() const {
    return floors_.empty() ? std::nullopt : std::optional(floors_.begin()->first);
  }

 private:
  std::map<MicroCredits, int> floors_;
};

}  // namespace weft::scheduler
