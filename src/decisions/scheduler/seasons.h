// How busy each hour of the week is, learned as time goes by. UTC; the week begins on Thursday, as
// 1970 did. Pure. A week that repeats itself makes its busy hours expensive and the others cheap.
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

  // The share of the trusted workers that are busy, in [0, 1]; call it about once a minute. True
  // where an hour has ended with it: save() gives other values than before.
  bool observe(UnixMillis time, double busy);
  // Between season_min and season_max; 1 before a day's worth of hours is known, and for an hour
  // that is not.
  [[nodiscard]] double factor(UnixMillis time) const;

  // For the store: 168 doubles; negative if nothing is known.
  [[nodiscard]] std::vector<double> save() const { return {usual_.begin(), usual_.end()}; }
  // Anything but 168 finite numbers of at most 1 is left alone.
  void restore(std::span<const double> saved);

 private:
  [[nodiscard]] static std::int64_t hour_of(UnixMillis time) { return time / 3'600'000; }
  void fold();

  std::array<double, hours> usual_ = [] {
    std::array<double, hours> none{};
    none.fill(-1);
    return none;
  }();
  std::optional<std::int64_t> hour_;  // Being observed.
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace weft::scheduler
