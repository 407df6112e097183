// Tests when a check that the coordinator's verifier did not finish is tried again, and what the
// client and the operator are told meanwhile.
#include "decisions/trust/late_check.h"

#include <gtest/gtest.h>

namespace weft::trust {
namespace {

using std::chrono::seconds;

constexpr Instant start{std::chrono::hours(1)};

TEST(LateCheck, IsTriedAgainOnceAfterAPauseThatDoublesUpToABound) {
  LateCheck check;
  EXPECT_FALSE(check.take_due(start)) << "nothing ran out";
  Instant now = start;
  for (const int pause : {10, 20, 40, 80, 160, 320, 600, 600}) {
    check.ran_out("It took longer.", now);
    EXPECT_TRUE(check.waits());
    EXPECT_EQ(check.next(), now + seconds(pause));
    EXPECT_FALSE(check.take_due(now + seconds(pause) - std::chrono::milliseconds(1)));

    now += seconds(pause);

    EXPECT_TRUE(check.take_due(now)) << pause;
    EXPECT_FALSE(check.take_due(now)) << "it is under way";
  }
  for (int i = 0; i < 100; ++i) check.ran_out("It took longer.", now);
  EXPECT_EQ(check.next(), now + LateCheck::pause_max) << "also after very many";
}

TEST(LateCheck, HasPatienceUntilTheLastTryOfTheFirstMinute) {
  LateCheck check;
  for (std::uint32_t tries = 1; tries < LateCheck::tries_max; ++tries) {
    EXPECT_TRUE(check.has_patience()) << tries;
    check.ran_out("It took longer.", start);
  }
  EXPECT_FALSE(check.has_patience());
}

TEST(LateCheck, SaysAfterSomeTriesWhyItWaitsAndWhatEndsIt) {
  LateCheck check;
  for (std::uint32_t tries = 0; tries < LateCheck::tries_max; ++tries) {
    EXPECT_FALSE(check.is_told());
    check.ran_out("It took longer than 5000 ms and was ended.", start);
  }
  EXPECT_TRUE(check.is_told());
  EXPECT_EQ(check.sentence("the check of task 3", start + seconds(1)),
            "The coordinator's verifier has not finished the check of task 3 after 4 tries (It "
            "took longer than 5000 ms and was ended) and tries again in 79 s; if it never "
            "succeeds, a worker of the operator's does it instead (`weft invite`, then `weft work "
            "--invite CODE` on another machine).");

  EXPECT_TRUE(check.take_due(check.next()));

  EXPECT_EQ(check.sentence("the check of task 3", start + seconds(81)),
            "The coordinator's verifier has not finished the check of task 3 after 4 tries (It "
            "took longer than 5000 ms and was ended) and tries again now; if it never succeeds, a "
            "worker of the operator's does it instead (`weft invite`, then `weft work --invite "
            "CODE` on another machine).");
}

TEST(LateCheck, IsNotTriedAgainWhereTheVerifierCannotDoIt) {
  LateCheck check;
  check.ran_out("It took longer.", start);
  check.cannot("The device has no f16.");

  EXPECT_FALSE(check.take_due(start + std::chrono::hours(1)));
  EXPECT_TRUE(check.is_told());
  EXPECT_EQ(check.sentence("the check of task 0", start),
            "The coordinator's verifier cannot do the check of task 0 (The device has no f16), "
            "which waits until a worker of the operator's does it instead (`weft invite`, then "
            "`weft work --invite CODE` on another machine).");
}

}  // namespace
}  // namespace weft::trust
