// Tests of stakes: a stake at risk cannot be withdrawn, and a stake on the chain counts but is not
// slashed.
#include "decisions/jobs/stakes.h"

#include <gtest/gtest.h>

#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

struct StakesTest : testing::Test {
  static CoreSettings open() {
    CoreSettings settings;
    settings.stakes_open = true;
    return settings;
  }
  Result<StakeView> withdraw(MicroCredits amount) {
    return test.answer<StakeView>([&](Answer<StakeView> answer) {
      stakes.move(
          {.wallet = TestTables::key(1), .deposit = false, .amount = amount, .number = ++number},
          test.now, std::move(answer));
    });
  }

  TestTables test{open()};
  ClaimsAsSaid claims;
  Stakes stakes{test.tables, claims};
  std::uint64_t number = 100;
};

TEST_F(StakesTest, WhatAnAuditedAnswerMayCostStaysThere) {
  test.stake(1, 100);
  stakes.risk(TestTables::key(1), 70);

  const auto refused = withdraw(31);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::insufficient_funds);
  EXPECT_TRUE(withdraw(30));

  stakes.release(TestTables::key(1), 70);
  const auto rest = withdraw(70);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->staked, 0);
  EXPECT_EQ(test.spendable(1), 100);
}

TEST_F(StakesTest, WhatIsOwedToClientsOfWrongResultsStaysThere) {
  test.stake(1, 100);
  claims.owed = 100;
  EXPECT_FALSE(withdraw(1));

  claims.owed = 0;
  claims.convicted = TestTables::key(1);
  EXPECT_FALSE(withdraw(1)) << "what its clients are owed is not known yet";
  EXPECT_EQ(stakes.at_risk(TestTables::key(1)), 100);
}

TEST_F(StakesTest, AStakeOnTheChainCountsAndLocksNothing) {
  const std::vector<ChainStake> read{{.owner = TestTables::owner(1), .amount = 40}};
  const auto taken = test.answer<ChainReadingTaken>([&](Answer<ChainReadingTaken> answer) {
    stakes.read_chain({.slot = 5, .stakes = read}, test.now, std::move(answer));
  });

  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->staked, 40);
  EXPECT_EQ(stakes.stake_of(TestTables::owner(1), test.now.at), 40);
  EXPECT_EQ(stakes.view(TestTables::key(1), test.now).staked, 0);
  EXPECT_EQ(stakes.free_of_answers(TestTables::key(1)), 0) << "decision 31";
}

TEST_F(StakesTest, ARequestMovesCreditsOnce) {
  test.issue(1, 100);
  const StakeMove move{.wallet = TestTables::key(1), .deposit = true, .amount = 60, .number = 1};
  for (int time = 0; time < 2; ++time) {
    const auto moved = test.answer<StakeView>(
        [&](Answer<StakeView> answer) { stakes.move(move, test.now, std::move(answer)); });
    ASSERT_TRUE(moved) << moved.error().message;
    EXPECT_EQ(moved->staked, 60);
  }
}

}  // namespace
}  // namespace weft::jobs
