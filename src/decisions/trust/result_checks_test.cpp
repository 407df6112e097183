// Tests which and how many parts of a result are computed again, by which workers, and which part
// is chosen if results differ.
#include "decisions/trust/result_checks.h"

#include <gtest/gtest.h>

#include "decisions/trust/test_parts.h"

namespace weft::trust {
namespace {

class ResultChecksTest : public testing::Test {
 protected:
  AuditWanted sample(std::uint32_t index, std::uint8_t worker) {
    (void)tables.cases.case_for(part_task(index), part_worker(worker));
    tables.hand_in(index, worker, 5);
    return checks.sample(part_task(index), part_root(5), part_worker(worker), pass);
  }

  PartTables tables;
  HeldResults held{tables};
  ResultChecks checks{tables, held};
  RefereePass pass{.now = part_now};
};

TEST_F(ResultChecksTest, ANewcomersFirstResultIsCheckedWholeAndLaterOnesLess) {
  EXPECT_EQ(sample(0, 1).samples, 32U);
  tables.standing.book().confirm(part_worker(1), 1, part_now);
  EXPECT_EQ(sample(1, 1).samples, 16U);
  tables.establish(2);
  EXPECT_EQ(sample(2, 2).samples, 1U);

  tables.standing.watch(part_worker(2));

  const AuditWanted wanted = sample(3, 2);
  EXPECT_EQ(wanted.samples, 32U) << "a root found it wrong";
  EXPECT_TRUE(wanted.trusted_only);
  EXPECT_EQ(wanted.attempt, 1U);
  EXPECT_EQ(tables.cases.case_of(part_task(3))->stage, Stage::auditing);
}

TEST_F(ResultChecksTest, ARootComputesThePartThatAnAccuserCallsWrong) {
  const AuditWanted first = sample(0, 1);
  TaskCase& open = *tables.cases.case_of(part_task(0));
  open.accuser = part_worker(9);
  open.part = 7;
  open.samples = 1;

  checks.dispute(part_task(0), pass);

  const auto wanted = only<AuditWanted>(pass);
  ASSERT_EQ(wanted.size(), 2U);
  EXPECT_TRUE(wanted[1].dispute);
  EXPECT_EQ(wanted[1].part, 7U);
  EXPECT_EQ(wanted[1].samples, 1U);
  EXPECT_EQ(wanted[1].suspect, first.suspect);
}

TEST_F(ResultChecksTest, ResultsThatDifferAreGivenToARootTogether) {
  tables.hand_in(0, 1, 5);
  tables.hand_in(0, 2, 6);

  checks.dispute(part_task(0), pass);

  const auto wanted = only<AuditWanted>(pass);
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_TRUE(wanted[0].dispute);
  ASSERT_EQ(wanted[0].rivals.size(), 1U);
  EXPECT_NE(wanted[0].rivals[0], wanted[0].root);
}

TEST_F(ResultChecksTest, WhereNoRootIsThereTrustedWorkersComputeItAgain) {
  tables.hand_in(0, 1, 5);
  tables.hand_in(0, 2, 6);
  tables.cases.case_for(part_task(0), part_worker(1)).rootless = true;

  checks.dispute(part_task(0), pass);

  EXPECT_TRUE(only<AuditWanted>(pass).empty());
  EXPECT_EQ(tables.cases.case_of(part_task(0))->stage, Stage::disputed);
}

TEST_F(ResultChecksTest, WhatHasTheOperatorsWordIsRight) {
  tables.standing.admissions().invite(part_worker(2), Invitation::worker);
  tables.hand_in(0, 1, 5);
  tables.hand_in(0, 2, 6);

  checks.dispute(part_task(0), pass);

  EXPECT_TRUE(only<AuditWanted>(pass).empty());
  ASSERT_FALSE(pass.todo.empty());
  bool accepted = false;
  for (const Decision& each : pass.todo) {
    if (const auto* one = std::get_if<Accepted>(&each)) accepted = one->root == part_root(6);
  }
  EXPECT_TRUE(accepted);
}

TEST_F(ResultChecksTest, APairIsBelievedUnlessARootFindsItWrong) {
  (void)tables.cases.case_for(part_task(0), part_worker(1));
  tables.hand_in(0, 1, 5);

  checks.check_pair(part_task(0), part_root(5), part_worker(1), pass);

  const auto wanted = only<AuditWanted>(pass);
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_TRUE(wanted[0].by_root);
  EXPECT_TRUE(tables.cases.case_of(part_task(0))->believed);
}

}  // namespace
}  // namespace weft::trust
