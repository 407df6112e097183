// Tests that an owner gets a grant once, within the bounds of the day.
#include "decisions/jobs/grants.h"

#include <gtest/gtest.h>

#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

CoreSettings granting(MicroCredits amount) {
  CoreSettings settings;
  settings.grant = amount;
  settings.grants.per_address = 1;
  return settings;
}

Result<OwnerView> give(TestTables& test, Grants& grants, std::uint8_t client, bool is_own = false) {
  return test.answer<OwnerView>([&](Answer<OwnerView> answer) {
    grants.give({.client = TestTables::key(client), .address = "192.0.2.1", .is_own = is_own},
                test.now, std::move(answer));
  });
}

TEST(Grants, AnOwnerHasOne) {
  TestTables test(granting(500));
  Grants grants(test.tables);

  ASSERT_TRUE(give(test, grants, 1));
  const auto again = give(test, grants, 1);

  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::already_exists);
  EXPECT_EQ(test.spendable(1), 500);
}

TEST(Grants, AnAddressBringsNoMoreThanItsBoundButTheOperatorsOwnDo) {
  TestTables test(granting(500));
  Grants grants(test.tables);
  ASSERT_TRUE(give(test, grants, 1));

  const auto refused = give(test, grants, 2);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::permission_denied);
  EXPECT_EQ(test.spendable(2), 0);
  EXPECT_TRUE(give(test, grants, 3, true));
}

TEST(Grants, AStrangerIsFundedOnceWhereNoInvitationIsNeeded) {
  CoreSettings settings = granting(500);
  settings.grants_need_invitation = false;
  TestTables test(settings);
  Grants grants(test.tables);
  const OwnerId owner = TestTables::owner(1);
  EXPECT_EQ(grants.of_stranger(owner), 500);

  ASSERT_TRUE(grants.fund(owner, test.now));
  ASSERT_TRUE(grants.fund(owner, test.now));

  EXPECT_EQ(test.spendable(1), 500);
  EXPECT_EQ(grants.of_stranger(owner), 0);
}

TEST(Grants, NothingIsFundedWhereInvitationsAreNeeded) {
  TestTables test(granting(500));
  Grants grants(test.tables);

  ASSERT_TRUE(grants.fund(TestTables::owner(1), test.now));

  EXPECT_EQ(test.spendable(1), 0);
  EXPECT_NE(grants.cannot_spend(TestTables::owner(1), 7).message.find("weft invite --client"),
            std::string::npos);
}

}  // namespace
}  // namespace weft::jobs
