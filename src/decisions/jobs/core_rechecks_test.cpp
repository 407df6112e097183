// Tests the paid tasks of convicted workers, event by event: the tasks that are computed again, the
// amounts that clients are owed, and the accounts that pay them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "decisions/jobs/rechecks.h"
#include "decisions/jobs/test_core.h"

namespace weft::jobs {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr UnixMillis convicted_at = 1'000'000'000'000;

class CoreRechecks : public testing::Test {
 protected:
  static constexpr std::uint32_t tasks = 4;

  // Worker 1 was convicted and has a stake. The conviction took `taken` credits that no client has
  // been given.
  Restored after_conviction(MicroCredits taken, MicroCredits stake = 0) {
    Restored restored;
    restored.rows.rechecks.push_back(
        {.worker = CoreAlone::worker(1), .convicted = convicted_at, .last = {}, .taken = taken});
    suspend(restored, 1);
    restored.rows.balances = {
        {ledger::Account::mint(), -(taken + stake + others)},
        {ledger::Account::verification(), taken + others},
        {ledger::Account::stake(OwnerId::of_first(CoreAlone::worker(1))), stake}};
    return restored;
  }
  static void suspend(Restored& restored, std::uint8_t number) {
    restored.rows.standings.push_back({.worker = CoreAlone::worker(number),
                                       .updated = convicted_at,
                                       .wrong = 1,
                                       .suspended_until = convicted_at + 1'000'000'000});
  }
  // A row of task 0, whose right result is in place.
  store::Correction known(std::uint8_t worker, MicroCredits due, MicroCredits refunded) {
    return {.task = id(0),
            .worker = CoreAlone::worker(worker),
            .client = submission.client,
            .time = convicted_at,
            .replaced = true,
            .was = root(0),
            .due = due,
            .refunded = refunded,
            .joined = true,
            .reason = {}};
  }
  void open(Restored restored) {
    alone = std::make_unique<CoreAlone>(std::move(restored), CoreAlone::Verifier::here,
                                        CoreAlone::Count::levels);
  }
  [[nodiscard]] TaskId id(std::uint32_t index) const {
    return {.job = submission.id, .index = index};
  }
  static Hash root(std::uint32_t index) {
    Hash hash;
    hash.bytes[0] = static_cast<std::uint8_t>(index + 1);
    return hash;
  }
  // The coordinator found these tasks that a worker was paid for; 0: the result is its own.
  void found(std::uint8_t worker, std::uint32_t count, std::uint8_t by = 1,
             bool has_manifest = true) {
    PaidFound page{.worker = CoreAlone::worker(worker), .tasks = {}};
    for (std::uint32_t index = 0; index < count; ++index) {
      page.tasks.push_back({.task = {.id = id(index),
                                     .root = root(index),
                                     .outputs = {{.hash = root(index), .bytes = 16}},
                                     .worker = by == 0 ? PublicKey{} : CoreAlone::worker(by),
                                     .agreeing = {CoreAlone::worker(1)}},
                            .client = submission.client,
                            .manifest = has_manifest ? submission.manifest : nullptr,
                            .paid = price});
    }
    alone->core().corrections().paid_found(page, alone->now);
    alone->run();
    if (count == 0) return;
    alone->core().corrections().paid_found({.worker = CoreAlone::worker(worker), .tasks = {}},
                                           alone->now);
    alone->run();
  }
  void computed(std::uint32_t index, trust::AuditOutcome outcome) {
    Checked checked{.outcome = outcome, .reason = "It says so."};
    if (outcome == trust::AuditOutcome::differs)
      checked.right = Recomputed{.root = root(100 + index), .outputs = {}};
    alone->core().corrections().rechecked(id(index), root(index), checked, alone->now);
    alone->run();
  }
  [[nodiscard]] MicroCredits has() const {
    return alone->core().accounts().ledger().balance(
        ledger::Account::owner(OwnerId::of_first(submission.client)));
  }
  [[nodiscard]] MicroCredits verification() const {
    return alone->core().accounts().ledger().balance(ledger::Account::verification());
  }
  [[nodiscard]] MicroCredits stake() const {
    return alone->core().accounts().ledger().balance(
        ledger::Account::stake(OwnerId::of_first(CoreAlone::worker(1))));
  }
  // Returns the last stored row of each task.
  [[nodiscard]] std::map<TaskId, store::Correction> rows() const {
    std::map<TaskId, store::Correction> last;
    for (const store::Correction& row : alone->stored.corrections) last[row.task] = row;
    return last;
  }

  static constexpr MicroCredits price = 1'000;     // The price of each task for the client.
  static constexpr MicroCredits fee = price / 50;  // The part of the price that paid for checking.
  // The verification account's credits from other jobs.
  static constexpr MicroCredits others = 100'000;
  Submission submission = CoreAlone::submission(count_manifest(tasks, 1));
  std::unique_ptr<CoreAlone> alone;
};

TEST_F(CoreRechecks, ClientsOfWrongTasksShareWhatTheConvictionTookThenTheStakeThenTheFees) {
  struct Row {
    MicroCredits taken, stake, refunded, left_of_stake;
  };
  // In each row two tasks of price 1,000 are wrong.
  for (const Row& row : std::vector<Row>{{5'000, 900, 2'000, 900},
                                         {1'500, 900, 2'000, 400},
                                         {0, 5'000, 2'000, 3'000},
                                         {0, 900, 940, 0},
                                         {500, 500, 1'040, 0},
                                         {0, 0, 40, 0}}) {
    open(after_conviction(row.taken, row.stake));
    found(1, 3);
    ASSERT_THAT(alone->verifications, SizeIs(3));
    computed(0, trust::AuditOutcome::differs);
    computed(1, trust::AuditOutcome::agrees);
    computed(2, trust::AuditOutcome::differs);

    EXPECT_EQ(has(), row.refunded);
    EXPECT_EQ(stake(), row.left_of_stake);
    const MicroCredits of_stake = row.stake - row.left_of_stake;
    EXPECT_EQ(verification(), row.taken + others - (row.refunded - of_stake));
    EXPECT_EQ(rows().at(id(0)).refunded, row.refunded / 2) << "each the same share";
    EXPECT_EQ(rows().at(id(2)).refunded, row.refunded / 2);
    EXPECT_FALSE(rows().contains(id(1)));
  }
}

TEST_F(CoreRechecks, ASecondConvictionOverTheSameTaskPaysTheRestAndNoFeeAgain) {
  Restored restored = after_conviction(0, 300);
  suspend(restored, 2);
  restored.rows.corrections.push_back(known(2, price, 100));
  open(std::move(restored));

  found(1, 1);
  computed(0, trust::AuditOutcome::differs);

  EXPECT_EQ(has(), 300) << "the stake; the fee was given when worker 2 was convicted";
  EXPECT_EQ(stake(), 0);
  EXPECT_EQ(rows().at(id(0)).refunded, 400);
}

TEST_F(CoreRechecks, TwoConvictedWorkersThatAgreedOnAWrongResultPayBoth) {
  Restored restored = after_conviction(0, 300);
  const OwnerId other = OwnerId::of_first(CoreAlone::worker(2));
  restored.rows.rechecks.push_back(
      {.worker = CoreAlone::worker(2), .convicted = convicted_at, .last = {}});
  suspend(restored, 2);
  restored.rows.balances.push_back({ledger::Account::stake(other), 400});
  restored.rows.balances.front().amount -= 400;
  open(std::move(restored));

  found(2, 1, 2);
  found(1, 1);
  ASSERT_THAT(alone->verifications, SizeIs(1)) << "it is computed once";
  computed(0, trust::AuditOutcome::differs);

  EXPECT_EQ(has(), 300 + 400 + fee);
  EXPECT_EQ(stake(), 0);
  EXPECT_EQ(alone->core().accounts().ledger().balance(ledger::Account::stake(other)), 0);
  EXPECT_EQ(rows().at(id(0)).refunded, 300 + 400 + fee);
}

TEST_F(CoreRechecks, TheWorkerWhoseResultWasReplacedMeanwhilePaysAsWell) {
  Restored restored = after_conviction(0, 300);
  suspend(restored, 2);
  restored.rows.corrections.push_back(known(2, price, 900));
  open(std::move(restored));

  found(1, 1, 0);

  EXPECT_THAT(alone->verifications, SizeIs(0)) << "the bytes are the coordinator's";
  EXPECT_EQ(has(), 100) << "no more than the client paid";
  EXPECT_EQ(stake(), 200);
}

TEST_F(CoreRechecks, ASuspectPaysNothing) {
  Restored restored = after_conviction(0, 5'000);
  restored.rows.standings.clear();
  open(std::move(restored));

  found(1, 1);
  computed(0, trust::AuditOutcome::differs);

  EXPECT_EQ(has(), 0);
  EXPECT_EQ(stake(), 5'000);
  EXPECT_TRUE(rows().at(id(0)).replaced);
}

TEST_F(CoreRechecks, WhatIsNotComputedAgainIsNamedWithItsReason) {
  open(after_conviction(5'000));
  found(1, 2, 1, false);
  EXPECT_THAT(alone->verifications, SizeIs(0));
  EXPECT_EQ(rows().at(id(0)).reason, "The client had the job's content deleted.");
  EXPECT_TRUE(rows().at(id(0)).settled);

  open(after_conviction(5'000));
  found(1, 1);
  computed(0, trust::AuditOutcome::failed);
  EXPECT_EQ(rows().at(id(0)).reason, "It says so.");
  EXPECT_FALSE(rows().at(id(0)).replaced);
  EXPECT_EQ(has(), 0);
}

TEST_F(CoreRechecks, WhatIsReplacedAlreadyIsNotNamedAsUnchecked) {
  Restored restored = after_conviction(0);
  restored.rows.corrections.push_back(known(2, price, 100));
  open(std::move(restored));

  found(1, 1);
  computed(0, trust::AuditOutcome::failed);

  for (const auto& [task, row] : rows()) EXPECT_TRUE(row.replaced) << row.reason;
}

TEST_F(CoreRechecks, ABoundedNumberOfTasksOfAWorkerIsComputedAgain) {
  submission = CoreAlone::submission(count_manifest(Rechecks::tasks_max + 1, 1));
  open(after_conviction(0));

  found(1, Rechecks::tasks_max + 1);

  EXPECT_THAT(alone->verifications, SizeIs(Rechecks::tasks_max));
  ASSERT_THAT(rows(), SizeIs(1));
  EXPECT_THAT(rows().begin()->second.reason, HasSubstr("more tasks than are computed again"));
}

TEST_F(CoreRechecks, AJobThatCannotBeJoinedAgainSaysWhy) {
  open(after_conviction(5'000));
  found(1, 1);
  computed(0, trust::AuditOutcome::differs);
  EXPECT_FALSE(rows().at(id(0)).joined);

  alone->core().corrections().joined_again(submission.id,
                                           fail(ErrorCode::data_loss, "A blob is gone."));
  alone->run();

  EXPECT_TRUE(rows().at(id(0)).joined);
  EXPECT_EQ(rows().at(id(0)).reason, "The job's outputs cannot be joined again: A blob is gone.");
}

TEST_F(CoreRechecks, AnAnswerAboutAnotherResultOfTheTaskIsNone) {
  open(after_conviction(5'000));
  found(1, 1);

  alone->core().corrections().rechecked(id(0), root(77), {.outcome = trust::AuditOutcome::differs},
                                        alone->now);
  alone->run();
  EXPECT_EQ(has(), 0);
  computed(0, trust::AuditOutcome::agrees);

  EXPECT_TRUE(rows().empty());
}

}  // namespace
}  // namespace weft::jobs
