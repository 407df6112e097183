// Client and coordinator agree on a price before a job runs, and a quote counts once.
#include "decisions/jobs/job_prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

using testing::SizeIs;

struct JobPricesTest : testing::Test {
  Submission submission() {
    Submission made;
    made.client = TestTables::key(1);
    made.manifest = TestTables::parsed(count_manifest(2, 1, "", 1'000'000));
    made.work = TestTables::hash(7);
    return made;
  }
  JobPrices::Now known(MicroCredits price) {
    JobPrices::Now made;
    made.known =
        scheduler::Estimate{.reference_seconds_per_workgroup = 1, .units = 1, .price = price};
    return made;
  }

  TestTables test;
  JobPrices prices{test.tables};
};

TEST_F(JobPricesTest, AMaxPriceBelowWhatTheWorkIsKnownToCostIsRefused) {
  Submission asked = submission();
  asked.price_max = 100;

  EXPECT_EQ(prices.agree(asked, known(101), test.now).error().code, ErrorCode::insufficient_funds);
  const auto agreed = prices.agree(asked, known(100), test.now);
  ASSERT_TRUE(agreed);
  EXPECT_EQ(agreed->max, 100);
}

TEST_F(JobPricesTest, AQuoteThatHasEndedOrIsOverTheBudgetIsRefused) {
  Submission asked = submission();
  asked.quote = QuotedPrice{.price = 50, .until = test.now.unix - 1};
  EXPECT_EQ(prices.agree(asked, {}, test.now).error().code, ErrorCode::invalid_argument);

  asked.quote = QuotedPrice{.price = asked.manifest->budget + 1, .until = test.now.unix + 1};
  EXPECT_EQ(prices.agree(asked, {}, test.now).error().code, ErrorCode::insufficient_funds);

  asked.quote->price = 50;
  const auto agreed = prices.agree(asked, known(70), test.now);
  ASSERT_TRUE(agreed);
  EXPECT_EQ(agreed->quoted, 50) << "the quote holds, whatever is known by now";
}

TEST_F(JobPricesTest, AQuoteCountsForOneJob) {
  Submission asked = submission();
  asked.quote = QuotedPrice{.id = {4}, .price = 50, .until = test.now.unix + 1000};
  ASSERT_TRUE(prices.quote_is_fresh(asked, test.now));

  prices.use_quote(asked);

  EXPECT_EQ(prices.quote_is_fresh(asked, test.now).error().code, ErrorCode::already_exists);
}

TEST_F(JobPricesTest, SoManyQuotesAreUsedUntilTheFirstOfThemEnd) {
  Submission asked = submission();
  for (std::size_t number = 0; number < UsedQuotes::quotes_max; ++number) {
    asked.quote = QuotedPrice{.price = 50, .until = test.now.unix + 1000};
    for (std::size_t i = 0; i < 4; ++i)
      asked.quote->id[i] = static_cast<std::uint8_t>(number >> (8 * i));
    prices.use_quote(asked);
  }
  asked.quote->id[15] = 1;
  const auto refused = prices.quote_is_fresh(asked, test.now);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);

  test.pass(std::chrono::milliseconds(1001));

  EXPECT_TRUE(prices.quote_is_fresh(asked, test.now));
}

// A canary of a job that strangers decide by agreement shows no price, because they could claim any
// speed.
TEST_F(JobPricesTest, WhatACanaryShowsOfAJobThatAnyWorkersDecideIsNotKnown) {
  RunningJob& job = test.run(1, 1, count_manifest(2, 1));
  auto by_heads = *job.manifest;
  by_heads.verify.anyone = true;
  job.manifest = std::make_shared<const manifest::Manifest>(by_heads);
  job.work = TestTables::hash(7);

  prices.note_measured(
      {.job = job.row.id, .by = TestTables::key(3), .seconds_per_workgroup = 0.5, .alone = true},
      test.now);

  EXPECT_FALSE(prices.now(*job.manifest, job.work, test.now).known);
  EXPECT_THAT(test.tables.outbox.batch().paces, SizeIs(0));
}

TEST_F(JobPricesTest, WhatACanaryShowedIsKnownOfTheSameWorkAndStored) {
  RunningJob& job = test.run(1, 1, count_manifest(2, 1));
  job.work = TestTables::hash(7);
  EXPECT_FALSE(prices.now(*job.manifest, job.work, test.now).known);

  prices.note_measured(
      {.job = job.row.id, .by = TestTables::key(3), .seconds_per_workgroup = 0.5, .alone = true},
      test.now);

  EXPECT_TRUE(prices.now(*job.manifest, TestTables::hash(7), test.now).known);
  EXPECT_FALSE(prices.now(*job.manifest, TestTables::hash(8), test.now).known);
  EXPECT_THAT(test.tables.outbox.batch().paces, SizeIs(1));
}

}  // namespace
}  // namespace weft::jobs
