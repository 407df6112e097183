// Tests that an invitation in the wrong hands brings no more than a day's grants, for one address
// and in all.
#include "decisions/jobs/grant_bounds.h"

#include <gtest/gtest.h>

namespace weft::jobs {
namespace {

constexpr UnixMillis day = 24LL * 3600 * 1000;

std::size_t granted(GrantBounds& bounds, const std::string& address, UnixMillis at,
                    std::size_t asked = 100) {
  std::size_t made = 0;
  for (std::size_t i = 0; i < asked; ++i) {
    if (!bounds.may_grant(address, at)) continue;
    bounds.count(address);
    ++made;
  }
  return made;
}

TEST(GrantBounds, OfOneAddressDoNotTakeThoseOfOthers) {
  GrantBounds bounds({.per_day = 10, .per_address = 4});

  EXPECT_EQ(granted(bounds, "192.0.2.1", day), 4U);
  EXPECT_EQ(granted(bounds, "2001:db8::/64", day), 4U);
  EXPECT_EQ(granted(bounds, "192.0.2.2", day), 2U) << "ten in all";
  EXPECT_EQ(bounds.may_grant("192.0.2.3", day).error().code, ErrorCode::permission_denied);
}

TEST(GrantBounds, BeginAgainWithTheNextDayAndNotByAClockThatIsSetBack) {
  GrantBounds bounds({.per_day = 0, .per_address = 2});

  EXPECT_EQ(granted(bounds, "192.0.2.1", 5 * day), 2U);
  EXPECT_EQ(granted(bounds, "192.0.2.1", 6 * day - 1), 0U);
  EXPECT_EQ(granted(bounds, "192.0.2.1", 6 * day), 2U);
  EXPECT_EQ(granted(bounds, "192.0.2.1", 4 * day), 0U);
}

TEST(GrantBounds, CountThoseOfTheDayBeforeARestart) {
  GrantBounds bounds({.per_day = 10, .per_address = 0});
  bounds.restore(8, 5 * day + 1);

  EXPECT_EQ(granted(bounds, "192.0.2.1", 5 * day + 2), 2U);
  EXPECT_EQ(granted(bounds, "192.0.2.1", 6 * day), 10U);
  EXPECT_EQ(GrantBounds::day_of(5 * day + 7), 5 * day);
}

TEST(GrantBounds, TurnedOffBoundNothing) {
  GrantBounds bounds({.per_day = 0, .per_address = 0});

  EXPECT_EQ(granted(bounds, "192.0.2.1", day, 5'000), 5'000U) << "the attack";
}

}  // namespace
}  // namespace weft::jobs
