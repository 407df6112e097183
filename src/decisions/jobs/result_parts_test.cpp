// Results of workers: two results of one attempt are evidence, results within a tolerance are
// compared before trust is told of them, and a result of no job is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/result_intake.h"
#include "decisions/jobs/test_check_parts.h"

namespace weft::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct ResultPartsTest : testing::Test, TestCheckParts {
  static TaskId task(std::uint32_t index = 0) {
    return {.job = TestTables::job_id(1), .index = index};
  }
  static CoveringReceipt receipt(std::uint8_t session, std::uint8_t root) {
    CoveringReceipt made{.session = SessionId(session),
                         .receipt = {},
                         .items = {},
                         .unleased = {},
                         .statement = {root},
                         .claims = {}};
    made.items.push_back({.task = task(), .attempt = 1, .root = TestTables::hash(root)});
    made.receipt.worker = TestTables::key(session);
    return made;
  }
  static Delivery delivery(std::uint8_t session, std::uint8_t root) {
    Delivery made{.session = SessionId(session), .worker = TestTables::key(session), .result = {}};
    made.result.task = task();
    made.result.attempt = 1;
    made.result.root = TestTables::hash(root);
    return made;
  }

  WorkerSessions sessions{test.tables, watch, checks};
  Checkpoints checkpoints{test.tables};
  ResultComparisons comparisons{test.tables, rulings};
  DoubleSigning signing{test.tables, stakes};
  ResultIntake intake{test.tables,
                      {.checkpoints = checkpoints,
                       .checks = checks,
                       .comparisons = comparisons,
                       .signing = signing,
                       .watch = watch,
                       .sessions = sessions,
                       .rulings = rulings}};
};

TEST_F(ResultPartsTest, TwoRootsOfOneAttemptAreEvidence) {
  const PublicKey worker = TestTables::key(5);
  test.stake(5, EvidenceRows::stake_min);
  EXPECT_FALSE(signing.note(worker, receipt(5, 1), false, test.now));
  EXPECT_FALSE(signing.note(worker, receipt(5, 1), false, test.now)) << "the same root";

  const auto found = signing.note(worker, receipt(5, 2), false, test.now);

  ASSERT_TRUE(found);
  EXPECT_EQ(*found, task());
  ASSERT_THAT(test.tables.outbox.batch().evidence, SizeIs(1));
  EXPECT_EQ(test.tables.outbox.batch().evidence[0].first.root, TestTables::hash(1));
}

TEST_F(ResultPartsTest, AContradictingDeviceIsConvictedAndDisconnected) {
  test.run(1, 9, count_manifest(1, 1));
  test.connect(5);
  intake.receipt(receipt(5, 1), test.now);

  intake.receipt(receipt(5, 2), test.now);
  test.land();

  EXPECT_THAT(rulings.of<trust::Convicted>(), SizeIs(1));
  EXPECT_FALSE(test.tables.workers.contains(TestTables::key(5)));
  EXPECT_THAT(test.world.barred, ElementsAre(TestTables::key(5)));
  ASSERT_THAT(test.world.closed, SizeIs(1));
}

TEST_F(ResultPartsTest, AResultOfNoLeaseIsRefused) {
  test.schedule(1, 9, count_manifest(1, 1));
  test.connect(5);

  intake.deliver(delivery(5, 1), test.now);
  test.land();

  EXPECT_EQ(test.tables.counters.results_refused, 1U);
  const auto verdicts = test.world.told<protocol::Verdict>(SessionId(5));
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_FALSE(verdicts[0].accepted);
}

TEST_F(ResultPartsTest, AResultOfALeaseGoesToTrust) {
  RunningJob& job = test.schedule(1, 9, count_manifest(1, 1));
  test.tables.trust.add_job(job.row.id, {.replicas = 1, .agree = {}}, 1);
  test.connect(5);
  const auto leases = test.leases();
  ASSERT_THAT(leases, SizeIs(1));
  auto made = delivery(5, 1);
  made.result.attempt = leases[0].tasks[0].attempt;

  intake.deliver(made, test.now);
  auto covering = receipt(5, 1);
  covering.items[0].attempt = made.result.attempt;
  intake.receipt(covering, test.now);

  EXPECT_THAT(job.delivered[0], SizeIs(1));
  EXPECT_THAT(rulings.of<trust::Counted>(), SizeIs(1));
}

TEST_F(ResultPartsTest, ResultsThatDifferAreComparedWithinTheTolerance) {
  std::string manifest = count_manifest(1, 2);
  const std::string exact = "\"exact\"";
  manifest.replace(manifest.find(exact), exact.size(), R"({"absolute":1e-3,"relative":1e-3})");
  auto text = manifest;
  const auto type = text.find("\"u32\"");
  text.replace(type, 5, "\"f32\"");
  RunningJob& job = test.run(1, 9, text);
  job.delivered[0][TestTables::key(5)] = {.result = delivery(5, 1).result};
  job.delivered[0][TestTables::key(6)] = {.result = delivery(6, 2).result};

  EXPECT_TRUE(comparisons.compare_first(job, TestTables::key(6), delivery(6, 2).result));
  ASSERT_THAT(test.world.comparisons, SizeIs(1));
  EXPECT_FALSE(comparisons.agree(task(), TestTables::hash(1), TestTables::hash(2)));

  comparisons.compared({.task = task(),
                        .worker = TestTables::key(6),
                        .attempt = 1,
                        .root = TestTables::hash(2),
                        .agreements = {{TestTables::hash(1), true}}},
                       test.now);

  EXPECT_TRUE(comparisons.agree(task(), TestTables::hash(1), TestTables::hash(2)));
  EXPECT_FALSE(comparisons.compare_first(job, TestTables::key(6), delivery(6, 2).result))
      << "it is known";
}

}  // namespace
}  // namespace weft::jobs
