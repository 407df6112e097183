// A calendar time without a zone, as templates see it, and its text forms (strftime).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace weft::jinja {

struct WallTime {
  int year = 1970, month = 1, day = 1;  // Months and days count from 1.
  int hour = 0, minute = 0, second = 0;

  // Reads "2026-01-02T03:04:05". A space may replace the T, and the seconds or the whole time may
  // be missing.
  [[nodiscard]] static Result<WallTime> parse(std::string_view text);
  // Converts Unix time to a time in UTC.
  [[nodiscard]] static WallTime of_unix(std::int64_t seconds);
  // Returns the current time in the time zone of this machine.
  [[nodiscard]] static WallTime local_now();

  [[nodiscard]] int day_of_year() const;  // January 1 is day 1.
  [[nodiscard]] int day_of_week() const;  // Sunday is 0.
};

// Formats a time as C's strftime does in the C locale. An unknown letter is copied unchanged.
[[nodiscard]] std::string format_time(std::string_view format, const WallTime& time);

}  // namespace weft::jinja
