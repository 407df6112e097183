// A worker whose result was found wrong has its paid tasks computed again before it is known whose
// fault that was; a client whose job differs by device has little of that for its money.
#include "decisions/trust/suspects.h"

#include <gtest/gtest.h>

namespace weft::trust {
namespace {

constexpr UnixMillis moment = 1'700'000'000'000;
constexpr SuspectLimits limits{.tasks_max = 300, .suspect_tasks_max = 100, .waiting_max = 2};

PublicKey key(std::uint8_t number) {
  PublicKey key;
  key.bytes[0] = number;
  return key;
}
const PublicKey client = key(200);

TEST(Suspects, AreComputedOnceAtATime) {
  Suspects suspects(limits);

  EXPECT_TRUE(suspects.suspect(key(1), client, moment));

  EXPECT_FALSE(suspects.suspect(key(1), client, moment));
  EXPECT_FALSE(suspects.suspect(key(1), key(201), moment)) << "because of another client's job";
  EXPECT_TRUE(suspects.computed(key(1), 10, true, moment).empty());
  EXPECT_TRUE(suspects.suspect(key(1), client, moment));
}

TEST(Suspects, ThatWereRightUseAClientsShareUpForADay) {
  Suspects suspects(limits);
  for (std::uint8_t number = 1; number <= 3; ++number) {
    EXPECT_TRUE(suspects.suspect(key(number), client, moment));
    EXPECT_TRUE(suspects.computed(key(number), 100, false, moment).empty());
  }

  EXPECT_FALSE(suspects.suspect(key(4), client, moment));
  EXPECT_TRUE(suspects.suspect(key(4), key(201), moment)) << "other clients have their own";
  EXPECT_TRUE(suspects.suspect(key(5), client, moment + Suspects::day));
}

// Otherwise cheats would use up the share of a client that they are going to cheat.
TEST(Suspects, ThatWereWrongOrAreConvictedOrHadNoPaidTasksUseNothingUp) {
  Suspects suspects(limits);
  for (int round = 0; round < 20; ++round) {
    EXPECT_TRUE(suspects.suspect(key(1), client, moment));
    (void)suspects.computed(key(1), 100, true, moment);
    EXPECT_TRUE(suspects.suspect(key(2), client, moment));
    (void)suspects.computed(key(2), 0, false, moment);
    EXPECT_TRUE(suspects.suspect(key(3), client, moment));
    (void)suspects.computed(key(3), 100, false, moment);
    suspects.convicted(key(3));
  }
}

TEST(Suspects, WaitForThoseThatAreUnderWay) {
  Suspects suspects(limits);
  for (std::uint8_t number = 1; number <= 3; ++number)
    EXPECT_TRUE(suspects.suspect(key(number), client, moment));
  for (std::uint8_t number = 4; number <= 6; ++number)
    EXPECT_FALSE(suspects.suspect(key(number), client, moment));

  const auto first = suspects.computed(key(1), 50, true, moment);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].worker, key(4));
  EXPECT_EQ(first[0].client, client);
  const auto second = suspects.computed(key(2), 50, true, moment);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].worker, key(5));

  EXPECT_TRUE(suspects.computed(key(3), 50, true, moment).empty()) << "a bounded number waits";
}

}  // namespace
}  // namespace weft::trust
