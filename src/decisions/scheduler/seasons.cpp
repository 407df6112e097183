#include "decisions/scheduler/seasons.h"

#include <algorithm>
#include <cmath>

namespace weft::scheduler {

bool Seasons::observe(UnixMillis time, double busy) {
  if (!std::isfinite(busy)) return false;
  const std::int64_t hour = hour_of(time);
  const bool ended = hour_ && *hour_ != hour;
  if (ended) fold();
  hour_ = hour;
  sum_ += std::clamp(busy, 0.0, 1.0);
  ++count_;
  return ended;
}

// Adds the hour that has ended to the usual values. The last weeks have the greatest weight.
void Seasons::fold() {
  constexpr double weight = 0.3;
  double& usual = usual_[static_cast<std::size_t>(*hour_ % static_cast<std::int64_t>(hours))];
  const double mean = sum_ / static_cast<double>(count_);
  usual = usual < 0 ? mean : usual + weight * (mean - usual);
  sum_ = 0;
  count_ = 0;
}

double Seasons::factor(UnixMillis time) const {
  constexpr int known_min = 24;
  double sum = 0;
  int known = 0;
  for (const double usual : usual_) {
    if (usual < 0) continue;
    sum += usual;
    ++known;
  }
  const double here =
      usual_[static_cast<std::size_t>(hour_of(time) % static_cast<std::int64_t>(hours))];
  if (known < known_min || here < 0 || sum <= 0) return 1;
  return std::clamp(here / (sum / known), season_min, season_max);
}

void Seasons::restore(std::span<const double> saved) {
  if (saved.size() != hours ||
      !std::ranges::all_of(saved, [](double value) { return std::isfinite(value) && value <= 1; }))
    return;
  std::ranges::copy(saved, usual_.begin());
}

}  // namespace weft::scheduler
