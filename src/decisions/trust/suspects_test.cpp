// Tests that the paid tasks of a worker with a wrong result are computed again before it is known
// whether the worker or its device was the cause, and that a client whose job differs by device
// gets few such rechecks.
#include "decisions/trust/suspects.h"

#include <gtest/gtest.h>

namespace weft::trust {
namespace {

constexpr UnixMillis moment = 1'700'000'000'000;
constexpr SuspectLimits limits{.tasks_max = 300, .suspect_tasks_max = 100, .waiting_max = 2};

PublicKey numbered(std::uint8_t number) {
  PublicKey made;
  made.bytes[0] = number;
  return made;
}
const PublicKey client = numbered(200);

TEST(Suspects, AreComputedOnceAtATime) {
  Suspects suspects(limits);

  EXPECT_TRUE(suspects.suspect(numbered(1), client, moment));

  EXPECT_FALSE(suspects.suspect(numbered(1), client, moment));
  EXPECT_FALSE(suspects.suspect(numbered(1), numbered(201), moment))
      << "because of another client's job";
  EXPECT_TRUE(suspects.computed(numbered(1), 10, true, moment).empty());
  EXPECT_TRUE(suspects.suspect(numbered(1), client, moment));
}

TEST(Suspects, ThatWereRightUseAClientsShareUpForADay) {
  Suspects suspects(limits);
  for (std::uint8_t number = 1; number <= 3; ++number) {
    EXPECT_TRUE(suspects.suspect(numbered(number), client, moment));
    EXPECT_TRUE(suspects.computed(numbered(number), 100, false, moment).empty());
  }

  EXPECT_FALSE(suspects.suspect(numbered(4), client, moment));
  EXPECT_TRUE(suspects.suspect(numbered(4), numbered(201), moment))
      << "other clients have their own";
  EXPECT_TRUE(suspects.suspect(numbered(5), client, moment + Suspects::day));
}

// If suspects that were really wrong used up the client's limit, cheats could use it up first, and
// then cheat the client.
TEST(Suspects, ThatWereWrongOrAreConvictedOrHadNoPaidTasksUseNothingUp) {
  Suspects suspects(limits);
  for (int round = 0; round < 20; ++round) {
    EXPECT_TRUE(suspects.suspect(numbered(1), client, moment));
    (void)suspects.computed(numbered(1), 100, true, moment);
    EXPECT_TRUE(suspects.suspect(numbered(2), client, moment));
    (void)suspects.computed(numbered(2), 0, false, moment);
    EXPECT_TRUE(suspects.suspect(numbered(3), client, moment));
    (void)suspects.computed(numbered(3), 100, false, moment);
    suspects.convicted(numbered(3));
  }
}

TEST(Suspects, WaitForThoseThatAreUnderWay) {
  Suspects suspects(limits);
  for (std::uint8_t number = 1; number <= 3; ++number)
    EXPECT_TRUE(suspects.suspect(numbered(number), client, moment));
  for (std::uint8_t number = 4; number <= 6; ++number)
    EXPECT_FALSE(suspects.suspect(numbered(number), client, moment));

  const auto first = suspects.computed(numbered(1), 50, true, moment);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].worker, numbered(4));
  EXPECT_EQ(first[0].client, client);
  const auto second = suspects.computed(numbered(2), 50, true, moment);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].worker, numbered(5));

  EXPECT_TRUE(suspects.computed(numbered(3), 50, true, moment).empty()) << "a bounded number waits";
}

}  // namespace
}  // namespace weft::trust
