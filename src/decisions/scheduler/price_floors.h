// The least prices that the workers of a class accept (`weft work --price`): how many of them take
// a job, and whether any does. A floor is a worker's own word: it decides what that worker is
// given, and enters no formula.
//
// Pure. Memory: an entry for each different floor, at most `floors_max` of them (step()).
#pragma once

#include <bit>
#include <cstddef>
#include <map>
#include <optional>

#include "common/base/ids.h"

namespace weft::scheduler {

class PriceFloors {
 public:
  // Rounded up to five significant bits: workers with floors of their own each would cost memory.
  [[nodiscard]] static MicroCredits step(MicroCredits floor) {
    if (floor <= 0) return 0;
    const int spare = std::bit_width(static_cast<std::uint64_t>(floor)) - 5;
    if (spare <= 0) return floor;
    const MicroCredits unit = MicroCredits{1} << spare;
    return (floor + unit - 1) / unit * unit;
  }

  void add(MicroCredits floor, int change) {
    auto& count = floors_[floor];
    count += change;
    if (count <= 0) floors_.erase(floor);
  }
  // How many accept so much for a unit.
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
