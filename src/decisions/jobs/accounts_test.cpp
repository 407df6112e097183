// Tests that the balances of owners are reported as they change, and that every change is a row.
#include "decisions/jobs/accounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(Accounts, AMovementIsARowAndIsMadeOnce) {
  TestTables test;
  const auto once = ledger::issue(TestTables::owner(1), 50, 7);
  ASSERT_TRUE(test.tables.accounts.move(once, test.now));
  const auto twice = test.tables.accounts.move(once, test.now);

  ASSERT_TRUE(twice);
  EXPECT_EQ(*twice, ledger::Applied::before);
  EXPECT_EQ(test.spendable(1), 50);
  EXPECT_THAT(test.tables.outbox.batch().transactions, SizeIs(1));
}

TEST(Accounts, TheBookKnowsWhichClientsHoldCredits) {
  TestTables test;
  test.issue(1, 50);
  EXPECT_TRUE(test.book.is_funded(TestTables::key(1)));

  ASSERT_TRUE(test.tables.accounts.move(
      ledger::transfer(TestTables::owner(1), TestTables::owner(2), 50, 9), test.now));

  EXPECT_FALSE(test.book.is_funded(TestTables::key(1)));
  EXPECT_TRUE(test.book.is_funded(TestTables::key(2)));
}

TEST(Accounts, DevicesOfAnOwnerWithAStakeAreStaked) {
  TestTables test;
  test.stake(1, 100);
  EXPECT_EQ(test.tables.accounts.slashable_stake(TestTables::owner(1)), 100);
  test.issue(1, 5);
  ASSERT_TRUE(test.tables.accounts.add_device(
      TestTables::key(1), {.key = TestTables::key(2), .owner = {}, .name = "second"},
      test.now.unix));

  EXPECT_THAT(test.tables.accounts.staked(), ElementsAre(TestTables::key(1), TestTables::key(2)));
  EXPECT_TRUE(test.book.is_funded(TestTables::key(2))) << "it spends its owner's credits";
  EXPECT_EQ(test.book.owner_of(TestTables::key(2)), TestTables::owner(1));

  ASSERT_TRUE(
      test.tables.accounts.revoke_device(TestTables::key(1), TestTables::key(2), test.now.unix));
  EXPECT_THAT(test.tables.accounts.staked(), ElementsAre(TestTables::key(1)));
  EXPECT_FALSE(test.book.is_funded(TestTables::key(2)));
  EXPECT_FALSE(test.tables.accounts.may_spend(TestTables::key(2)));
}

TEST(Accounts, GrantedCreditsAreNotFree) {
  TestTables test;
  ASSERT_TRUE(test.tables.accounts.move(ledger::grant(TestTables::owner(1), 80), test.now));
  EXPECT_EQ(test.spendable(1), 80);

  const auto refused = test.tables.accounts.has_free(TestTables::owner(1), 1, "staked");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "The balance is 0.000000 credits, less than 0.000001; 0.000080 granted credits cannot "
            "be staked.");
}

}  // namespace
}  // namespace weft::jobs
