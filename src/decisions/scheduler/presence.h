// The probability that a worker will still be connected when a task would end, learned from the
// worker's own arrivals and departures by the hour of the day.
//
// Departures within an hour of the day are a Poisson process whose rate has a Gamma distribution.
// The evidence is the worker's number of departures over its seconds present in that hour. The
// prior is the ratio of the two over all hours, with a weight of half an hour; a stranger is
// expected to stay for an hour. The probability to stay for t seconds within an hour is then (b /
// (b + t))^a (Lomax), with a and b the distribution's parameters; over several hours it is the
// product. Yesterday's observations count four fifths of today's.
//
// Pure; an update and a prediction cost a few powers. Hours are in UTC, so that an hour of day is
// the same hour for all workers, whatever their time zone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "common/base/clock.h"

namespace weft::scheduler {

class Presence {
 public:
  static constexpr std::size_t hours = 24;

  void arrived(UnixMillis time);
  void left(UnixMillis time);
  // The probability, in [0, 1], that the worker stays connected for `seconds` from `time` on. The
  // worker's presence until `time` is counted first.
  [[nodiscard]] double stays(UnixMillis time, double seconds);

  // Observations of one hour of the day, as the store keeps them. The fields are small because each
  // worker has 24 such rows.
  struct Hour {
    float present_seconds = 0;
    float departures = 0;
    std::int32_t day = 0;  // The last day with a presence in that hour, in days since 1970.
  };
  [[nodiscard]] const std::array<Hour, hours>& seen() const { return seen_; }
  // Restores stored observations. Ignores impossible values.
  void restore(const std::array<Hour, hours>& seen);

 private:
  void count_until(UnixMillis time);
  Hour& hour_at(UnixMillis time);

  std::array<Hour, hours> seen_{};
  double present_seconds_ = 0;  // Sum over all hours.
  double departures_ = 0;
  std::optional<UnixMillis> here_since_;  // Presence is counted until this time.
};

}  // namespace weft::scheduler
