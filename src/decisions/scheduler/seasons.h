// The load of each hour of the week, learned as time goes by. If the weeks are alike, busy hours
// become expensive and all other hours cheap. Hours are in UTC; the week begins on Thursday, as
// 1970 did. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/base/clock.h"

namespace weft::scheduler {

inline constexpr double season_min = 0.5;
inline constexpr double season_max = 2;

class Seasons {
 public:
  static constexpr std::size_t hours = 168;

  // Records the share of the trusted workers that are busy, in [0, 1]; call it about once a minute.
  // Returns true if this ended an hour, so that save() gives other values than before.
  bool observe(UnixMillis time, double busy);
  // Returns the factor of this hour of the week, between season_min and season_max. It is 1 until
  // 24 hours are known, and for an unknown hour.
  [[nodiscard]] double factor(UnixMillis time) const;

  // The values for the store: 168 doubles, negative for an unknown hour.
  [[nodiscard]] std::vector<double> save() const { return {usual_.begin(), usual_.end()}; }
  // Restores saved values. Ignores anything but 168 finite numbers of at most 1.
  void restore(std::span<const double> saved);

 private:
  [[nodiscard]] static std::int64_t hour_of(UnixMillis time) { return time / 3'600'000; }
  void fold();

  std::array<double, hours> usual_ = [] {
    std::array<double, hours> none{};
    none.fill(-1);
    return none;
  }();
  std::optional<std::int64_t> hour_;  // The hour that is being observed.
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace weft::scheduler
