// Held pay, and the consequences of wrong results: the amount that a conviction takes goes to the
// clients of wrong tasks, no client gets more than it paid, and no row is kept permanently.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/convictions.h"
#include "decisions/jobs/task_payments.h"
#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct WrongResultsTest : testing::Test {
  WrongResultsTest() { test.issue(9, 100'000); }
  static TaskId task(std::uint8_t job = 1) { return {.job = TestTables::job_id(job), .index = 0}; }
  static constexpr MicroCredits pay = 1000;

  // Worker 5 was paid for task 0 of a job of client 9, and its pay is held.
  void hold(std::uint8_t number = 1) {
    RunningJob& job = test.run(number, 9, count_manifest(1, 1, "", 1000));
    job.row.price = pay;
    ASSERT_TRUE(test.tables.accounts.move(
        ledger::open_escrow(job.row.id, TestTables::owner(9), pay,
                            test.tables.accounts.ledger().spendable(TestTables::owner(9))),
        test.now));
    test.tables.jobs.accept(job, 0, {.root = TestTables::hash(1), .outputs = {}});
    Grants grants(test.tables);
    CheckerPay checkers(test.tables);
    TaskPayments payments(test.tables, grants, checkers, held);
    payments.pay(job, 0, std::vector{TestTables::key(5)}, test.now);
    test.tables.jobs.remove(job.row.id);
    ASSERT_GT(held_pay(), 0);
  }
  [[nodiscard]] MicroCredits held_pay() const {
    return test.tables.accounts.held_pay(TestTables::key(5));
  }
  void convict() {
    convictions.convict(
        {.task = task(), .worker = TestTables::key(5), .penalty = 0, .reason = "a test"}, test.now);
  }
  void recheck(trust::AuditOutcome outcome) {
    Checked checked{.outcome = outcome};
    if (outcome == trust::AuditOutcome::differs)
      checked.right = Recomputed{.root = TestTables::hash(2), .outputs = {}};
    corrections.rechecked(task(), TestTables::hash(1), checked, test.now);
  }

  TestTables test;
  PaidTables paid{test.tables.accounts};
  HeldPayments held{test.tables, paid};
  Forfeits forfeits{test.tables, paid, held};
  Refunds refunds{test.tables, paid};
  JobPrices prices{test.tables};
  JobWatch watch{test.tables, prices};
  Corrections corrections{test.tables, paid, held, forfeits, refunds, watch};
  NoCheckLeases checks;
  WorkerSessions sessions{test.tables, watch, checks};
  CheckerPay checkers{test.tables};
  Convictions convictions{test.tables, checkers, corrections, forfeits, sessions};
};

TEST_F(WrongResultsTest, ANewcomersPayIsFreeAfterItsTime) {
  hold();
  EXPECT_EQ(test.spendable(5), 0);
  EXPECT_NE(held.why_held(TestTables::key(5)).find("10 minutes"), std::string::npos);
  held.free(test.now);
  EXPECT_EQ(test.spendable(5), 0) << "too early";

  const MicroCredits all = held_pay();
  test.pass(std::chrono::minutes(12));
  held.free(test.now);

  EXPECT_EQ(test.spendable(5), all);
  EXPECT_EQ(held_pay(), 0);
  EXPECT_EQ(held.next(), std::nullopt);
}

TEST_F(WrongResultsTest, WithoutAVerifierAllThatIsHeldIsForfeit) {
  hold();
  const MicroCredits all = held_pay();
  const MicroCredits before = test.tables.accounts.ledger().verification().total();

  convict();

  EXPECT_EQ(held_pay(), 0);
  EXPECT_EQ(test.tables.accounts.ledger().verification().total(), before + all);
  EXPECT_EQ(test.tables.counters.convictions, 1U);
}

TEST_F(WrongResultsTest, TheClientOfAWrongTaskGetsThePayThatWasHeldForIt) {
  test.world.has_verifier = true;
  hold();
  const MicroCredits all = held_pay();
  const MicroCredits before = test.spendable(9);
  convict();
  test.land();
  ASSERT_THAT(test.world.verifications, SizeIs(1));
  EXPECT_TRUE(test.world.verifications[0].paid);
  EXPECT_EQ(held_pay(), all) << "it waits for the verifier";
  EXPECT_TRUE(corrections.may_correct_for(TestTables::key(9)));

  recheck(trust::AuditOutcome::differs);
  test.land();

  EXPECT_EQ(held_pay(), 0);
  EXPECT_EQ(test.spendable(9), before + all);
  ASSERT_THAT(test.world.stored.corrected_tasks, SizeIs(1));
  EXPECT_EQ(test.world.stored.corrected_tasks[0].root, TestTables::hash(2));
  EXPECT_EQ(test.tables.counters.tasks_corrected, 1U);
  EXPECT_EQ(corrections.owed_by(TestTables::owner(5)), pay - all) << "what it paid beyond that";
}

TEST_F(WrongResultsTest, PayForARightTaskOfAConvictedWorkerGoesToNoClient) {
  test.world.has_verifier = true;
  hold();
  const MicroCredits all = held_pay();
  const MicroCredits before = test.spendable(9);
  const MicroCredits verification = test.tables.accounts.ledger().verification().total();
  convict();

  recheck(trust::AuditOutcome::agrees);

  EXPECT_EQ(test.spendable(9), before);
  EXPECT_EQ(test.tables.accounts.ledger().verification().total(), verification + all);
  EXPECT_EQ(corrections.owed_by(TestTables::owner(5)), 0);
}

TEST_F(WrongResultsTest, AWrongTasksJobIsJoinedAgainOnce) {
  test.world.has_verifier = true;
  hold();
  convict();
  recheck(trust::AuditOutcome::differs);
  corrections.go_on(test.now);
  test.land();
  ASSERT_THAT(test.world.lookups, SizeIs(1));
  corrections.paid_found({.worker = TestTables::key(5), .tasks = {}}, test.now);
  test.pass(std::chrono::minutes(11));
  for (int time = 0; time < 2; ++time) {
    corrections.go_on(test.now);
    test.land();
  }

  EXPECT_THAT(test.world.joined_again, ElementsAre(TestTables::job_id(1)));
}

TEST_F(WrongResultsTest, WhatOwnersOweIsCountedOverTheirOpenCorrections) {
  OpenCorrections open(test.tables.accounts);
  OpenCorrection wrong;
  wrong.row.task = task();
  wrong.row.client = TestTables::key(9);
  wrong.row.due = 30;
  wrong.row.refunded = 10;
  wrong.owe = {TestTables::key(5), TestTables::key(6)};
  open.put(wrong);
  EXPECT_EQ(open.owed_by(TestTables::owner(5)), 20);
  EXPECT_EQ(open.owed_by(TestTables::owner(6)), 20);
  EXPECT_EQ(open.owed_for(task()), 20);
  EXPECT_TRUE(open.waits_for_client(TestTables::key(9)));

  open.change(task())->row.refunded = 25;
  EXPECT_EQ(open.owed_by(TestTables::owner(5)), 5) << "a change is seen";
  EXPECT_EQ(open.owed_for(task()), 5);
  open.change(task())->over = true;
  EXPECT_EQ(open.owed_by(TestTables::owner(6)), 0) << "nothing is owed any more";
  EXPECT_EQ(open.owed_for({.job = TestTables::job_id(1), .index = 1}), std::nullopt);
}

TEST_F(WrongResultsTest, AClientGetsWhatIsLeftOfTheStakeAndNoMoreThanItPaid) {
  test.stake(5, 300);
  const MicroCredits before = test.spendable(9);
  OpenCorrection wrong;
  wrong.row.task = task();
  wrong.row.worker = TestTables::key(5);
  wrong.row.client = TestTables::key(9);
  wrong.row.due = 250;
  wrong.owe = {TestTables::key(5)};
  paid.corrections.put(wrong);
  store::Recheck row;
  row.worker = TestTables::key(5);

  refunds.refund(row, test.now);
  refunds.refund(row, test.now);

  EXPECT_EQ(test.spendable(9), before + 250);
  EXPECT_EQ(test.tables.accounts.slashable_stake(TestTables::owner(5)), 50);
  EXPECT_EQ(corrections.owed_by(TestTables::owner(5)), 0);
}

TEST_F(WrongResultsTest, HeldPayForATaskThatIsReplacedAlreadyIsItsClientsAtTheConviction) {
  for (const std::uint8_t job : {std::uint8_t{1}, std::uint8_t{2}}) {
    test.world.has_verifier = job == 1;
    hold(job);
    const MicroCredits all = held_pay();
    const MicroCredits before = test.spendable(9);
    OpenCorrection wrong;
    wrong.row.task = task(job);
    wrong.row.worker = TestTables::key(5);
    wrong.row.client = TestTables::key(9);
    wrong.row.was = TestTables::hash(1);
    wrong.row.due = pay;
    paid.corrections.put(wrong);

    convict();
    const auto rows = test.tables.outbox.batch().corrections;
    test.land();

    EXPECT_EQ(held_pay(), 0);
    EXPECT_EQ(test.spendable(9), before + all);
    EXPECT_THAT(test.world.verifications, IsEmpty()) << "it is known to be wrong";
    ASSERT_THAT(rows, SizeIs(1)) << "what it got back is stored with the money";
    EXPECT_EQ(rows[0].refunded, all);
    EXPECT_EQ(paid.corrections.owed_for(task(job)), pay - all);
  }
}

TEST_F(WrongResultsTest, TransactionsAfterARestartHaveOtherNamesThanThoseBefore) {
  hold(1);
  test.pass(std::chrono::minutes(12));
  held.free(test.now);
  ASSERT_EQ(held_pay(), 0);
  hold(2);
  HeldPayments after(test.tables, paid);
  after.restore(test.now);

  test.pass(std::chrono::minutes(12));
  after.free(test.now);

  EXPECT_EQ(held_pay(), 0) << "a transaction with the name of an earlier one moves nothing";
}

TEST_F(WrongResultsTest, ARunningJobTakesTheRightResultUpAndItsTrapsAreForgotten) {
  test.world.has_verifier = true;
  hold();
  RunningJob& job = test.run(1, 9, count_manifest(1, 1, "", 1000));
  for (const bool joining : {true, false}) {
    job.joining = joining;
    job.accepted[0] =
        std::make_unique<const Settled>(TestTables::hash(1), std::vector<store::OutputBlob>{});
    test.tables.trust.traps().add({.task = task(), .root = TestTables::hash(1)}, {});
    paid.rechecks.begin(TestTables::key(5), test.now.unix);
    ASSERT_TRUE(paid.rechecks.wait_for(
        TestTables::key(5), std::make_shared<const PaidTask>(PaidTask{.task = task(),
                                                                      .client = TestTables::key(9),
                                                                      .manifest = job.manifest,
                                                                      .root = TestTables::hash(1),
                                                                      .outputs = {},
                                                                      .price = pay})));

    recheck(trust::AuditOutcome::differs);

    EXPECT_EQ(job.accepted[0]->root, TestTables::hash(joining ? 1 : 2));
    EXPECT_EQ(paid.corrections.find(task())->row.joined, !joining)
        << "what is being joined is joined again";
    EXPECT_EQ(test.tables.trust.traps().size(), 0U) << "one of them may have had this answer";
    paid.corrections.change_all().clear();
  }
}

TEST_F(WrongResultsTest, AfterARestartACorrectionWaitsForTheRestOfItsWorkersTasks) {
  struct Row {
    const char* what;
    bool is_rechecked, is_running, waits;
  };
  for (const Row& row :
       std::vector<Row>{{"its worker's tasks are being computed", true, true, true},
                        {"its job has to be joined again", false, false, true},
                        {"its job takes it up", false, true, false}}) {
    PaidTables after_restart(test.tables.accounts);
    Corrections restored(test.tables, after_restart, held, forfeits, refunds, watch);
    store::Loaded loaded;
    if (row.is_rechecked) loaded.rechecks.push_back({.worker = TestTables::key(5), .last = {}});
    if (row.is_running) {
      loaded.jobs.emplace_back();
      loaded.jobs.back().id = task().job;
    }
    store::Correction correction;
    correction.task = task();
    correction.worker = TestTables::key(5);
    correction.client = TestTables::key(9);
    correction.replaced = true;
    correction.due = pay;
    loaded.corrections.push_back(correction);

    restored.restore(loaded);

    EXPECT_EQ(restored.may_correct_for(TestTables::key(9)), row.waits) << row.what;
  }
}

// Four suspects use up a client's share of the verifier's time.
struct SuspectsTest : WrongResultsTest {
  void suspect(std::uint8_t worker) {
    corrections.suspect({.task = task(), .worker = TestTables::key(worker), .client = client},
                        test.now);
  }
  // True if the worker's tasks are looked up, or will be.
  [[nodiscard]] bool is_rechecked(std::uint8_t worker) const {
    return paid.rechecks.contains(TestTables::key(worker));
  }
  const PublicKey client = TestTables::key(9);
};

TEST_F(SuspectsTest, AConvictionGivesTheClientsShareBackAtOnce) {
  for (std::uint8_t worker = 1; worker <= 4; ++worker) suspect(worker);
  suspect(11);
  ASSERT_TRUE(is_rechecked(4));
  ASSERT_FALSE(is_rechecked(11)) << "it waits";

  corrections.convicted(TestTables::key(2), 0, test.now);
  suspect(12);

  EXPECT_TRUE(is_rechecked(12));
}

TEST_F(SuspectsTest, OneThatIsFoundWrongUsesNothingOfTheShareUp) {
  test.world.has_verifier = true;
  const auto manifest = TestTables::parsed(count_manifest(1, 1));
  for (const auto outcome : {trust::AuditOutcome::differs, trust::AuditOutcome::agrees}) {
    const auto base = static_cast<std::uint8_t>(outcome == trust::AuditOutcome::differs ? 0 : 100);
    const auto number = [&](int which) { return static_cast<std::uint8_t>(base + which); };
    const auto wrong_client = TestTables::key(number(50));
    const auto suspect_of = [&](int which) {
      corrections.suspect(
          {.task = task(), .worker = TestTables::key(number(which)), .client = wrong_client},
          test.now);
    };
    for (int which = 1; which <= 5; ++which) suspect_of(which);
    ASSERT_FALSE(is_rechecked(number(5)));
    const PublicKey first = TestTables::key(number(1));
    const TaskId its_task{.job = TestTables::job_id(number(1)), .index = 0};
    PaidFound page{.worker = first, .tasks = {}};
    page.tasks.push_back({.task = {.id = its_task,
                                   .root = TestTables::hash(1),
                                   .outputs = {},
                                   .worker = first,
                                   .agreeing = {first}},
                          .client = TestTables::key(9),
                          .manifest = manifest,
                          .paid = 1});
    corrections.paid_found(page, test.now);
    Checked checked{.outcome = outcome};
    if (outcome == trust::AuditOutcome::differs)
      checked.right = Recomputed{.root = TestTables::hash(2), .outputs = {}};
    corrections.rechecked(its_task, TestTables::hash(1), checked, test.now);
    corrections.paid_found({.worker = first, .tasks = {}}, test.now);

    corrections.go_on(test.now);

    EXPECT_EQ(is_rechecked(number(5)), outcome == trust::AuditOutcome::differs)
        << "a right task counts for a day";
  }
}

TEST_F(WrongResultsTest, APaidTaskThatTheVerifierDidNotFinishIsComputedAgainLater) {
  test.world.has_verifier = true;
  hold();
  convict();
  test.land();
  ASSERT_THAT(test.world.verifications, SizeIs(1));
  const Checked late{.reason = "It takes too long.", .late = true};
  corrections.rechecked(task(), TestTables::hash(1), late, test.now);
  corrections.ask_again(test.now);
  test.land();
  EXPECT_THAT(test.world.verifications, SizeIs(1)) << "too early";
  EXPECT_EQ(corrections.deadline(), test.now.at + std::chrono::seconds(10));

  test.pass(std::chrono::seconds(10));
  corrections.ask_again(test.now);
  test.land();

  EXPECT_THAT(test.world.verifications, SizeIs(2));
  for (std::size_t tries = 3; tries <= 5; ++tries) {
    corrections.rechecked(task(), TestTables::hash(1), late, test.now);
    test.pass(std::chrono::minutes(10));
    corrections.ask_again(test.now);
    test.land();
    ASSERT_THAT(test.world.verifications, SizeIs(tries));
    EXPECT_EQ(test.world.verifications.back().waits_for_second, tries < trust::LateCheck::tries_max)
        << tries;
  }
}

TEST_F(WrongResultsTest, AJuryIsPaidOutOfWhatWasSlashedButNotItsConvictedMember) {
  test.stake(5, 300);
  test.connect(6);
  test.connect(5);
  convictions.add_jury({.task = task(),
                        .members = {{.worker = TestTables::key(6), .attempt = 1, .pay = 100},
                                    {.worker = TestTables::key(5), .attempt = 1, .pay = 100}}});
  convictions.convict(
      {.task = task(), .worker = TestTables::key(5), .penalty = 300, .reason = "a test"}, test.now);

  convictions.pay_juries(test.now);
  test.land();

  EXPECT_EQ(test.tables.accounts.slashable_stake(TestTables::owner(5)), 0);
  EXPECT_EQ(test.spendable(6), 100);
  EXPECT_EQ(test.spendable(5), 0);
  EXPECT_THAT(test.world.told<protocol::Verdict>(SessionId(6)), SizeIs(1));
}

}  // namespace
}  // namespace weft::jobs
