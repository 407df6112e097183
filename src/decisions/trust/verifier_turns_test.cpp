// Tests that samples of newcomers and of workers with standing share one verifier.
#include "decisions/trust/verifier_turns.h"

#include <gtest/gtest.h>

namespace weft::trust {
namespace {

// Newcomers have whole results checked, other workers single parts.
TEST(VerifierTurns, NewcomersTakeHalfOfTheTimeWhileOthersWait) {
  VerifierTurns turns;
  double newcomers = 0;
  double others = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto line = turns.next(true, true);
    const double seconds = line == VerifierTurns::newcomers ? 1 : 1.0 / 32;
    (line == VerifierTurns::newcomers ? newcomers : others) += seconds;
    turns.spent(line, seconds);
  }

  EXPECT_NEAR(newcomers, others, 1);
}

TEST(VerifierTurns, ALineHasAllOfItWhileTheOtherIsEmpty) {
  VerifierTurns turns;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(turns.next(true, false), VerifierTurns::newcomers);
    turns.spent(VerifierTurns::newcomers, 1);
  }
  EXPECT_EQ(turns.next(false, true), VerifierTurns::others);
}

TEST(VerifierTurns, ALineThatWasEmptyHasSavedUpNoTime) {
  VerifierTurns turns;
  for (int i = 0; i < 100; ++i) {
    (void)turns.next(false, true);
    turns.spent(VerifierTurns::others, 1);
  }

  int newcomers = 0;
  for (int i = 0; i < 10; ++i) {
    const auto line = turns.next(true, true);
    newcomers += line == VerifierTurns::newcomers ? 1 : 0;
    turns.spent(line, 1);
  }

  EXPECT_LE(newcomers, 6);
}

}  // namespace
}  // namespace weft::trust
