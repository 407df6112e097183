// Tests of pay for tasks: a task is paid out of its job's escrow, never more than the escrow holds;
// the pay of a worker whose pay is held is held; and unspent credits go back to the client.
#include "decisions/jobs/task_payments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

using testing::SizeIs;

struct TaskPaymentsTest : testing::Test {
  RunningJob& begin(std::uint32_t tasks, MicroCredits price) {
    RunningJob& job = test.run(1, 9, count_manifest(tasks, 1, "", 1000));
    EXPECT_TRUE(payments.open_escrow(job.row.id, TestTables::key(9), 1000, test.now));
    job.row.price = price;
    for (std::uint32_t index = 0; index < tasks; ++index)
      test.tables.jobs.accept(job, index, {.root = TestTables::hash(1), .outputs = {}});
    return job;
  }
  [[nodiscard]] MicroCredits escrow() const {
    return test.balance(ledger::Account::escrow(TestTables::job_id(1)));
  }
  TaskPaymentsTest() { test.issue(9, 1000); }

  TestTables test;
  Grants grants{test.tables};
  CheckerPay checkers{test.tables};
  HoldsPayOf holding;
  TaskPayments payments{test.tables, grants, checkers, holding};
};

TEST_F(TaskPaymentsTest, AClientThatDoesNotHoldTheBudgetOpensNone) {
  EXPECT_EQ(
      payments.open_escrow(TestTables::job_id(1), TestTables::key(9), 1001, test.now).error().code,
      ErrorCode::insufficient_funds);
  EXPECT_EQ(test.spendable(9), 1000);
}

TEST_F(TaskPaymentsTest, ATaskIsPaidAndTheRestGoesBack) {
  RunningJob& job = begin(2, 400);

  const auto paid = payments.pay(job, 0, std::vector{TestTables::key(5)}, test.now);
  EXPECT_GT(paid.each, 0);
  EXPECT_EQ(test.spendable(5), paid.each);
  EXPECT_EQ(escrow(), 800);
  payments.close_escrow(job, test.now);

  EXPECT_EQ(escrow(), 0);
  EXPECT_EQ(test.spendable(9), 800);
}

TEST_F(TaskPaymentsTest, NoMoreIsPaidThanTheEscrowHolds) {
  RunningJob& job = begin(1, 5000);

  const auto paid = payments.pay(job, 0, std::vector{TestTables::key(5)}, test.now);

  EXPECT_LE(paid.each, 1000);
  EXPECT_EQ(escrow(), 0);
}

TEST_F(TaskPaymentsTest, PayThatIsHeldIsNotTheWorkersYet) {
  holding.worker = TestTables::key(5);
  RunningJob& job = begin(1, 400);

  const auto paid = payments.pay(job, 0, std::vector{TestTables::key(5)}, test.now);

  EXPECT_EQ(test.spendable(5), 0);
  EXPECT_EQ(test.tables.accounts.held_pay(TestTables::key(5)), paid.each);
  ASSERT_THAT(holding.held, SizeIs(1));
  EXPECT_EQ(holding.held[0].funds.total(), paid.each);
}

TEST_F(TaskPaymentsTest, CheckersGetNoMoreThanTheVerificationAccountHolds) {
  RunningJob& job = begin(1, 1000);
  payments.pay(job, 0, std::vector{TestTables::key(5)}, test.now);
  const MicroCredits has = test.tables.accounts.ledger().verification().total();
  ASSERT_EQ(has, 20) << "2% of the price";

  const TaskId task{.job = job.row.id, .index = 0};
  EXPECT_EQ(checkers.pay(task, TestTables::key(6), 15, "trap", test.now), 15);
  EXPECT_EQ(checkers.pay(task, TestTables::key(7), 15, "trap", test.now), 5);
  EXPECT_EQ(checkers.pay(task, TestTables::key(8), 15, "trap", test.now), 0);
  EXPECT_EQ(test.spendable(6), 15);
}

}  // namespace
}  // namespace weft::jobs
