#include "decisions/scheduler/presence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::scheduler {
namespace {

constexpr UnixMillis hour_ms = 3'600'000;
constexpr double stranger_seconds = 3600;  // Expected mean stay of a stranger.
constexpr double prior_seconds = 1800;     // The weight of the worker's overall rate in each hour.
constexpr double kept_a_day = 0.8;

std::size_t hour_of_day(UnixMillis time) {
  return static_cast<std::size_t>(((time / hour_ms) % 24 + 24) % 24);
}

}  // namespace

Presence::Hour& Presence::hour_at(UnixMillis time) {
  Hour& hour = seen_[hour_of_day(time)];
  const auto day = static_cast<std::int32_t>(
      std::min<std::int64_t>(time / (24 * hour_ms), std::numeric_limits<std::int32_t>::max()));
  if (day > hour.day) {
    const auto kept = static_cast<float>(
        std::pow(kept_a_day, std::min(static_cast<double>(day) - hour.day, 1000.0)));
    present_seconds_ -= hour.present_seconds * (1 - kept);
    departures_ -= hour.departures * (1 - kept);
    hour.present_seconds *= kept;
    hour.departures *= kept;
    hour.day = day;
  }
  return hour;
}

void Presence::count_until(UnixMillis time) {
  if (!here_since_) return;
  // More than a month of presence at once is a jump of the clock, and is not counted.
  if (time - *here_since_ > 31 * 24 * hour_ms) here_since_ = time;
  while (*here_since_ < time) {
    const UnixMillis until = std::min(time, (*here_since_ / hour_ms + 1) * hour_ms);
    const double passed = static_cast<double>(until - *here_since_) / 1000;
    hour_at(*here_since_).present_seconds += static_cast<float>(passed);
    present_seconds_ += passed;
    here_since_ = until;
  }
}

void Presence::arrived(UnixMillis time) { here_since_ = std::max<UnixMillis>(time, 0); }

void Presence::left(UnixMillis time) {
  if (!here_since_) return;
  count_until(time);
  hour_at(std::max<UnixMillis>(time, 0)).departures += 1;
  departures_ += 1;
  here_since_.reset();
}

double Presence::stays(UnixMillis time, double seconds) {
  constexpr UnixMillis count_every_ms = 60'000;
  if (here_since_ && time - *here_since_ >= count_every_ms) count_until(time);
  const double rate =
      (1 + std::max(departures_, 0.0)) / (stranger_seconds + std::max(present_seconds_, 0.0));
  double chance = 1;
  double left = std::clamp(seconds, 0.0, 24.0 * 3600);
  for (UnixMillis from = std::max<UnixMillis>(time, 0); left > 0;) {
    const UnixMillis until = (from / hour_ms + 1) * hour_ms;
    const double part = std::min(left, static_cast<double>(until - from) / 1000);
    const Hour& hour = seen_[hour_of_day(from)];
    const double b = prior_seconds + hour.present_seconds;
    const double a = rate * prior_seconds + hour.departures;
    chance *= std::pow(b / (b + part), a);
    left -= part;
    from = until;
  }
  return chance;
}

void Presence::restore(const std::array<Hour, hours>& seen) {
  present_seconds_ = 0;
  departures_ = 0;
  for (std::size_t i = 0; i < hours; ++i) {
    const Hour& hour = seen[i];
    const bool can_be = std::isfinite(hour.present_seconds) && std::isfinite(hour.departures) &&
                        hour.present_seconds >= 0 && hour.departures >= 0;
    seen_[i] = can_be ? hour : Hour{};
    present_seconds_ += seen_[i].present_seconds;
    departures_ += seen_[i].departures;
  }
}

}  // namespace weft::scheduler
