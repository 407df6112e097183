// Tests of the ends of answers: the price of a paid answer goes from its escrow to the workers that
// gave it and the auditors that confirmed it, and every answer ends once, with an empty escrow.
#include "decisions/jobs/completions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::SizeIs;

struct CompletionsTest : testing::Test {
  CompletionsTest() {
    test.issue(1, 1'000'000);
    billing::ApiKey key;
    key.id = "0123456789abcdef";
    key.hash = TestTables::hash(1);
    key.owner = TestTables::key(1);
    EXPECT_TRUE(keys.restore(std::vector{key}));
  }
  // An answer of up to 1,000 tokens at a credit for each thousand.
  billing::AnswerAdmission admit(std::uint8_t id = 1) {
    return test
        .answer<billing::AnswerAdmission>([&](Answer<billing::AnswerAdmission> answer) {
          completions.admit({.key = TestTables::hash(1),
                             .model = "tiny",
                             .ids = {TestTables::job_id(id)},
                             .tokens_likely = 100,
                             .tokens_worst = 1000,
                             .tokens_least = 10,
                             .price = 1000},
                            test.now, std::move(answer));
        })
        .value();
  }
  // Ten tokens of one worker, without fingerprints unless it is to be audited.
  billing::AnswerReport report(std::uint8_t worker, std::uint8_t id = 1) {
    billing::AnswerReport made{.id = TestTables::job_id(id), .end = {}};
    made.end.reason = "stop";
    made.end.work = {{.worker = TestTables::key(worker), .work = 5}};
    made.end.answered.assign(10, 3);
    return made;
  }
  [[nodiscard]] MicroCredits escrow(std::uint8_t id = 1) const {
    return test.balance(ledger::Account::escrow(TestTables::job_id(id)));
  }

  TestTables test;
  Grants grants{test.tables};
  ClientKeys keys{test.tables, grants};
  ClaimsAsSaid claims;
  Stakes stakes{test.tables, claims};
  RecordingRulings rulings;
  CompletionPay pay{test.tables};
  AnswerWeighing weighing{test.tables};
  Completions completions{test.tables, weighing, pay, keys, grants, stakes, rulings};
};

TEST_F(CompletionsTest, WhatAnAnswerMayCostIsSetAside) {
  const auto admitted = admit();

  ASSERT_FALSE(admitted.refused);
  EXPECT_THAT(admitted.answers, SizeIs(1));
  EXPECT_EQ(escrow(), 1000);
  EXPECT_EQ(completions.size(), 1U);
}

TEST_F(CompletionsTest, AnAnswerThatFailedCostsNothing) {
  ASSERT_FALSE(admit().refused);
  billing::AnswerReport failed = report(5);
  failed.end.reason = "failed";

  completions.answered(failed, test.now);
  test.land();

  EXPECT_EQ(escrow(), 0);
  EXPECT_EQ(test.spendable(1), 1'000'000);
  EXPECT_EQ(completions.counters().refunded, 1U);
  EXPECT_EQ(completions.size(), 0U);
  EXPECT_THAT(test.world.settled,
              ElementsAre(Pair(TestTables::job_id(1), billing::AnswerFate::nothing)));
}

TEST_F(CompletionsTest, AnAnswerWithoutFingerprintsIsNotPaid) {
  ASSERT_FALSE(admit().refused);

  completions.answered(report(5), test.now);
  test.land();

  EXPECT_EQ(test.spendable(5), 0);
  EXPECT_EQ(test.spendable(1), 1'000'000);
  EXPECT_THAT(test.world.settled,
              ElementsAre(Pair(TestTables::job_id(1), billing::AnswerFate::refuted)));
}

TEST_F(CompletionsTest, AClientThatCannotPayIsRefused) {
  ASSERT_TRUE(test.tables.accounts.move(
      ledger::transfer(TestTables::owner(1), TestTables::owner(2), 999'999, 3), test.now));

  const auto admitted = admit();

  ASSERT_TRUE(admitted.refused);
  EXPECT_EQ(admitted.refused->error.code, ErrorCode::insufficient_funds);
  EXPECT_EQ(completions.size(), 0U);
}

TEST_F(CompletionsTest, WhatACrashBrokeOffGoesBack) {
  ASSERT_FALSE(admit().refused);
  ASSERT_EQ(escrow(), 1000);

  pay.restore(
      std::vector<Restored::Answer>{{.id = TestTables::job_id(1), .client = TestTables::owner(1)}},
      test.now);

  EXPECT_EQ(escrow(), 0);
  EXPECT_EQ(test.spendable(1), 1'000'000);
}

TEST_F(CompletionsTest, PayIsSharedByWorkAndATenthIsForThoseThatConfirmed) {
  ASSERT_TRUE(pay.open(TestTables::job_id(2), TestTables::key(1), 1000, "tiny", test.now));
  billing::OpenAnswer open{.key = "0123456789abcdef", .client = TestTables::key(1), .held = 1000};
  open.work = {{.worker = TestTables::key(5), .work = 3},
               {.worker = TestTables::key(6), .work = 1}};
  open.agreeing = {TestTables::key(7)};
  open.tokens = 900;

  const MicroCredits paid = pay.end(TestTables::job_id(2), open, 800, "verified", test.now);

  EXPECT_EQ(test.spendable(7), paid / 10);
  EXPECT_EQ(test.spendable(5), 3 * test.spendable(6));
  EXPECT_EQ(test.spendable(5) + test.spendable(6) + test.spendable(7), paid);
  EXPECT_EQ(test.spendable(1), 1'000'000 - paid);
  EXPECT_EQ(escrow(2), 0);
}

}  // namespace
}  // namespace weft::jobs
