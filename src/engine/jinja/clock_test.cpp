// Tests the clock of a template: the texts that --now accepts, and the results of strftime.
#include "engine/jinja/clock.h"

#include <gtest/gtest.h>

namespace weft::jinja {
namespace {

TEST(WallTime, IsReadInItsForms) {
  const WallTime time = WallTime::parse("2026-01-02T03:04:05").value();

  EXPECT_EQ(format_time("%Y-%m-%d %H:%M:%S", time), "2026-01-02 03:04:05");
  EXPECT_EQ(format_time("%H:%M:%S", WallTime::parse("2026-01-02").value()), "00:00:00");
  EXPECT_EQ(format_time("%H:%M:%S", WallTime::parse("2026-01-02 23:59").value()), "23:59:00");
}

TEST(WallTime, WhatIsNoTimeIsRefused) {
  for (const std::string_view text : {"", "2026", "2026-13-01", "2026-02-30", "2026-01-02T24:00:00",
                                      "2026-01-02T03:04:05Z", "2026-1-2", "-026-01-02", "now"})
    EXPECT_FALSE(WallTime::parse(text)) << text;
  EXPECT_EQ(WallTime::parse("now").error().message,
            "'now' is not a time; 2026-01-02T03:04:05 is one.");
}

TEST(FormatTime, FieldsAreThoseOfStrftime) {
  const WallTime afternoon{
      .year = 2024, .month = 12, .day = 30, .hour = 15, .minute = 7, .second = 9};

  EXPECT_EQ(format_time("%a %A %b %B %d %e %j", afternoon), "Mon Monday Dec December 30 30 365");
  EXPECT_EQ(format_time("%I %l %p %y %C %u %w", afternoon), "03  3 PM 24 20 1 1");
  EXPECT_EQ(format_time("%U %W %V %G %g", afternoon), "52 53 01 2025 25");
  EXPECT_EQ(format_time("%F %T %R %D %c", afternoon),
            "2024-12-30 15:07:09 15:07 12/30/24 Mon Dec 30 15:07:09 2024");
  EXPECT_EQ(format_time("%-d %-m %-H %_H %%", {.year = 2026, .month = 1, .day = 2, .hour = 3}),
            "2 1 3  3 %");
  EXPECT_EQ(format_time("%Q %", afternoon), "%Q %");
}

}  // namespace
}  // namespace weft::jinja
