// Tests that the operator is warned, at most every ten minutes, if the verifier has less than a
// quarter of its time to spare.
#include "apps/coordinator/ingest/busy_share.h"

#include <gtest/gtest.h>

namespace weft::coordinator {
namespace {

using std::chrono::seconds;

// The number of warnings in an hour in which the thread works `busy` of every ten seconds.
int said_in_an_hour(int busy) {
  BusyShare share;
  int said = 0;
  Instant now(seconds(1000));
  for (int i = 0; i < 360; ++i, now += seconds(10))
    said += share.worked(now, now + seconds(busy)) ? 1 : 0;
  EXPECT_NEAR(share.share(), busy / 10.0, 0.12);
  return said;
}

TEST(BusyShare, ABusyVerifierIsSaidEveryTenMinutesAndAnIdleOneIsNot) {
  EXPECT_EQ(said_in_an_hour(5), 0);
  EXPECT_EQ(said_in_an_hour(7), 0);
  EXPECT_GE(said_in_an_hour(9), 5);
  EXPECT_LE(said_in_an_hour(9), 6);
}

}  // namespace
}  // namespace weft::coordinator
