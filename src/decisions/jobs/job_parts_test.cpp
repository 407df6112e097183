// Tests of a job's course: a job is accepted once for a nonce, with its money set aside; while it
// runs it is shown; it ends once, in all parts together, and all that wait for its end are told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/job_life.h"
#include "decisions/jobs/job_submissions.h"
#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct JobPartsTest : testing::Test {
  JobPartsTest() { test.issue(9, 1'000'000'000); }
  Submission submission(std::uint8_t id, std::uint8_t nonce, std::uint32_t tasks = 2) {
    Submission made;
    made.client = TestTables::key(9);
    made.nonce[0] = nonce;
    made.manifest = TestTables::parsed(count_manifest(tasks, 1));
    made.manifest_text = "text";
    made.manifest_hash = TestTables::hash(static_cast<std::uint8_t>(tasks));
    made.id = TestTables::job_id(id);
    return made;
  }
  Result<protocol::api::Submitted> submit(Submission wanted) {
    return test.answer<protocol::api::Submitted>([&](Answer<protocol::api::Submitted> answer) {
      submissions.submit(std::move(wanted), test.now, std::move(answer));
    });
  }

  // A task costs a credit at least; a budget is 100 credits.
  static CoreSettings settings() {
    CoreSettings made;
    made.scheduler.pricing.per_replica_min = 1'000'000;
    return made;
  }

  TestTables test{settings()};
  Grants grants{test.tables};
  ClientWeights weights{test.tables};
  JobPrices prices{test.tables};
  CheckerPay checkers{test.tables};
  HoldsPayOf holding;
  TaskPayments payments{test.tables, grants, checkers, holding};
  JobWatch watch{test.tables, prices};
  ClaimsAsSaid claims;
  Stakes stakes{test.tables, claims};
  RecordingRulings rulings;
  ResultComparisons comparisons{test.tables, rulings};
  NoCheckLeases checks;
  WorkerSessions sessions{test.tables, watch, checks};
  Checkpoints checkpoints{test.tables};
  JobLife life{test.tables,
               {.prices = prices,
                .weights = weights,
                .stakes = stakes,
                .comparisons = comparisons,
                .watch = watch,
                .payments = payments,
                .checkpoints = checkpoints,
                .sessions = sessions,
                .checks = checks,
                .claims = claims}};
  JobSubmissions submissions{test.tables, grants, prices, payments, life};
};

TEST_F(JobPartsTest, ANonceGivesItsJobAgain) {
  const auto first = submit(submission(1, 1));
  ASSERT_TRUE(first) << first.error().message;
  const auto again = submit(submission(2, 1));
  ASSERT_TRUE(again);

  EXPECT_EQ(again->id, first->id);
  EXPECT_EQ(test.tables.jobs.size(), 1U);
  EXPECT_EQ(submit(submission(3, 1, 4)).error().code, ErrorCode::already_exists)
      << "another manifest";
  EXPECT_EQ(test.spendable(9), 900'000'000) << "one budget is set aside";
}

TEST_F(JobPartsTest, ABudgetThatPaysForNoTaskIsRefused) {
  Submission cheap = submission(1, 1);
  cheap.manifest = TestTables::parsed(count_manifest(2, 1, "", 1));

  EXPECT_EQ(submit(std::move(cheap)).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(test.tables.jobs.size(), 0U);
}

TEST_F(JobPartsTest, WhetherAJobMayComeInIsSaidBefore) {
  const auto may = [&](std::uint8_t client, std::uint8_t nonce) {
    std::optional<Result<bool>> answer;
    submissions.may_submit(
        {.client = TestTables::key(client), .nonce = {nonce}, .tasks = 1, .budget = 5},
        [&](Result<bool> said) { answer = std::move(said); });
    return *answer;
  };
  EXPECT_TRUE(may(9, 1));
  EXPECT_EQ(may(8, 1).error().code, ErrorCode::insufficient_funds);
}

TEST_F(JobPartsTest, AJobIsCancelledByItsOwnerAlone) {
  ASSERT_TRUE(submit(submission(1, 1)));
  const auto cancel = [&](std::uint8_t client) {
    return test.answer<protocol::api::Submitted>([&](Answer<protocol::api::Submitted> answer) {
      life.cancel({.job = TestTables::job_id(1), .client = TestTables::key(client)}, test.now,
                  std::move(answer));
    });
  };
  std::optional<EndedJob> told;
  life.when_ended(TestTables::job_id(1), [&](Result<EndedJob> ended) { told = ended.value(); });
  EXPECT_EQ(cancel(8).error().code, ErrorCode::permission_denied);
  EXPECT_TRUE(test.tables.jobs.contains(TestTables::job_id(1)));

  ASSERT_TRUE(cancel(9));

  EXPECT_FALSE(test.tables.jobs.contains(TestTables::job_id(1)));
  EXPECT_EQ(test.spendable(9), 1'000'000'000) << "its budget is back";
  EXPECT_EQ(test.book.manifest(TestTables::job_id(1)), nullptr);
  EXPECT_FALSE(test.tables.scheduler.views().progress(TestTables::job_id(1)));
  EXPECT_THAT(checks.ended, ElementsAre(TestTables::job_id(1)));
  EXPECT_EQ(claims.settled, 1);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->state, store::JobState::cancelled);
  EXPECT_EQ(told->paid, 0);
}

TEST_F(JobPartsTest, OutputsOfAllTasksAreJoined) {
  ASSERT_TRUE(submit(submission(1, 1)));
  RunningJob& job = test.tables.jobs.at(TestTables::job_id(1));
  for (const std::uint32_t index : {0U, 1U})
    test.tables.jobs.accept(job, index, {.root = TestTables::hash(1), .outputs = {}});
  life.join(job, test.now);
  life.join(job, test.now);
  test.land();
  EXPECT_THAT(test.world.joins, SizeIs(1)) << "once";

  life.joined(TestTables::job_id(1), std::vector<store::OutputBlob>{}, test.now);
  test.land();

  EXPECT_EQ(test.tables.counters.jobs_done, 1U);
  EXPECT_EQ(test.world.stored.job_updates.back().end->state, store::JobState::done);
}

TEST_F(JobPartsTest, AnIrreproducibleJobFailsAndSaysWhy) {
  ASSERT_TRUE(submit(submission(1, 1)));

  life.end_irreproducible(TestTables::job_id(1), "it draws lots", test.now);
  test.land();

  EXPECT_EQ(test.world.stored.job_updates.back().end->reason, "not reproducible: it draws lots");
  EXPECT_EQ(test.tables.counters.jobs_failed, 1U);
}

TEST_F(JobPartsTest, WatchersSeeWhatWasNotedOfATask) {
  ASSERT_TRUE(submit(submission(1, 1)));
  RunningJob& job = test.tables.jobs.at(TestTables::job_id(1));
  const auto snapshot = [&] {
    return test
        .answer<WatchUpdate>([&](Answer<WatchUpdate> answer) {
          watch.watch(WatchWanted::snapshot_too, test.now, std::move(answer));
        })
        .value()
        .snapshot.value();
  };
  ASSERT_THAT(snapshot().jobs, SizeIs(1));

  watch.leased(job, 0, test.now);
  watch.refused({.job = job.row.id, .index = 0});

  EXPECT_EQ(snapshot().jobs[0].refusals, 1U);
  life.fail_with(job.row.id, "no reason", test.now);
  EXPECT_EQ(snapshot().jobs[0].state, "failed");
}

}  // namespace
}  // namespace weft::jobs
