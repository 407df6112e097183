// The time that a template sees, as on a wall clock, and its text forms (strftime).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace weft::jinja {

struct WallTime {
  int year = 1970, month = 1, day = 1;  // Month and day from 1.
  int hour = 0, minute = 0, second = 0;

  // "2026-01-02T03:04:05"; a space may stand for the T, and the seconds or the time may be missing.
  [[nodiscard]] static Result<WallTime> parse(std::string_view text);
  // In UTC.
  [[nodiscard]] static WallTime of_unix(std::int64_t seconds);
  // Now, where this machine is.
  [[nodiscard]] static WallTime local_now();

  [[nodiscard]] int day_of_year() const;  // From 1.
  [[nodiscard]] int day_of_week() const;  // Sunday is 0.
};

// As C's strftime in the C locale; an unknown letter stays as it is.
[[nodiscard]] std::string format_time(std::string_view format, const WallTime& time);

}  // namespace weft::jinja
