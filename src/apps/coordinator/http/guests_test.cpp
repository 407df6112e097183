// Tests of guest tokens: each belongs to one address and one hour, and has a rate.
#include "apps/coordinator/http/guests.h"

#include <gtest/gtest.h>

namespace weft::coordinator {
namespace {

using namespace std::chrono_literals;

const Instant start = Instant{} + 1h;

TEST(Guests, TokensBelongToAnAddressAndAnHourAndHaveARate) {
  Guests guests(2);
  const UnixMillis hour = 3'600'000, now = 10 * hour + 5;
  const std::string token = guests.token_for("10.0.0.1", now);
  EXPECT_TRUE(guests.admit(token, "10.0.0.1", now, start).has_value());
  EXPECT_TRUE(guests.admit(token, "10.0.0.1", now + hour, start).has_value());
  EXPECT_EQ(guests.admit(token, "10.0.0.1", now, start).error().code,
            ErrorCode::resource_exhausted);
  EXPECT_TRUE(guests.admit(token, "10.0.0.1", now, start + 31s).has_value());
  EXPECT_EQ(guests.admit(token, "10.0.0.2", now, start).error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(guests.admit(token, "10.0.0.1", now + 2 * hour, start).error().code,
            ErrorCode::unauthenticated);
  EXPECT_EQ(Guests(2).admit(token, "10.0.0.1", now, start).error().code, ErrorCode::unauthenticated)
      << "another process";
  EXPECT_EQ(Guests(0).admit(token, "10.0.0.1", now, start).error().code,
            ErrorCode::unauthenticated);
}

}  // namespace
}  // namespace weft::coordinator
