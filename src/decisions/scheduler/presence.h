// Whether a worker will still be here when a task would end, learned from its own comings and
// goings by the hour of day.
//
// Leaving in an hour of the day is a Poisson process whose rate has a Gamma distribution: what was
// seen of the worker in that hour (departures over seconds present) with what was seen of it at all
// as the prior, worth half an hour; a stranger is expected to stay for an hour. The chance to stay
// for t seconds within an hour is then (b / (b + t))^a (Lomax), a and b being the distribution's
// parameters, and over several hours the product. What was seen yesterday counts for four fifths of
// today's.
//
// Pure; an update and a prediction cost a few powers. UTC: an hour of day is the same hour for all,
// whatever zone it lives in.
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
  // The chance, in [0, 1], that it is here for so many seconds from `time` on. Counts its being
  // here until now first.
  [[nodiscard]] double stays(UnixMillis time, double seconds);

  // What was seen in one hour of the day; the store keeps it. The fields are small because each
  // worker has 24 of these.
  struct Hour {
    float present_seconds = 0;
    float departures = 0;
    std::int32_t day = 0;  // When it was last seen in that hour, in days since 1970.
  };
  [[nodiscard]] const std::array<Hour, hours>& seen() const { return seen_; }
  // Values that cannot be are left out.
  void restore(const std::array<Hour, hours>& seen);

 private:
  void count_until(UnixMillis time);
  Hour& hour_at(UnixMillis time);

  std::array<Hour, hours> seen_{};
  double present_seconds_ = 0;  // Sums of the above.
  double departures_ = 0;
  std::optional<UnixMillis> here_since_;  // Counted until then.
};

}  // namespace weft::scheduler
