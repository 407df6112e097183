// A checkpoint is kept for its own worker, and for others only if no worker can be punished for the
// result; its blob is removed when no row names it.
#include "decisions/jobs/checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct CheckpointsTest : testing::Test {
  // A stored state of task 0 of job 1, half done.
  void restore(std::uint8_t worker, std::uint8_t blob, std::uint32_t done = 2) {
    const std::vector<store::Checkpoint> rows{{.task = {.job = TestTables::job_id(1), .index = 0},
                                               .worker = TestTables::key(worker),
                                               .blob = TestTables::hash(blob),
                                               .bytes = 10,
                                               .done = done,
                                               .of = 4}};
    checkpoints.restore(rows);
  }
  protocol::Lease leased_to(std::uint8_t worker) {
    protocol::Lease lease{.job = TestTables::job_id(1), .manifest = {}};
    lease.tasks.push_back({.index = 0, .attempt = 1});
    checkpoints.add_resume_points(lease, TestTables::key(worker));
    return lease;
  }

  TestTables test;
  Checkpoints checkpoints{test.tables};
};

TEST_F(CheckpointsTest, AWorkerContinuesFromItsOwnState) {
  test.run(1, 9, count_manifest(1, 2));
  restore(3, 30);

  EXPECT_THAT(leased_to(3).resume, SizeIs(1));
  EXPECT_THAT(leased_to(4).resume, IsEmpty()) << "two replicas: a bad state would make both agree";
}

TEST_F(CheckpointsTest, AnotherContinuesWhereNoWorkerCanBePunished) {
  test.tables.trust.standing().admissions().invite(TestTables::key(3), trust::Invitation::worker);
  test.run(1, 9, count_manifest(1, 1));
  restore(3, 30, 1);
  restore(5, 50, 3);  // A newcomer's checkpoint, which may hold anything.

  const auto lease = leased_to(4);

  ASSERT_THAT(lease.resume, SizeIs(1));
  EXPECT_EQ(lease.resume[0].blob, TestTables::hash(30));
  EXPECT_EQ(test.tables.counters.resumed, 1U);
}

// Another worker of the task could name a state of this one as its own checkpoint and replace it.
TEST_F(CheckpointsTest, NoBlobOfATaskIsRemovedWhileACheckAsksForItsStates) {
  test.run(1, 9, count_manifest(1, 2));
  const TaskId task{.job = TestTables::job_id(1), .index = 0};
  restore(3, 30);
  checkpoints.hold(task);

  checkpoints.forget(task);
  test.land();
  EXPECT_THAT(test.world.forgotten, IsEmpty());

  checkpoints.let_go(task, {{.hash = TestTables::hash(30), .bytes = 10}});
  test.land();
  EXPECT_THAT(test.world.forgotten, ElementsAre(TestTables::hash(30)));
}

TEST_F(CheckpointsTest, AStateThatIsACheckpointTooStays) {
  test.run(1, 9, count_manifest(1, 2));
  const TaskId task{.job = TestTables::job_id(1), .index = 0};
  restore(3, 30);
  checkpoints.hold(task);

  checkpoints.let_go(task, {{.hash = TestTables::hash(30), .bytes = 10},
                            {.hash = TestTables::hash(31), .bytes = 10}});
  test.land();

  EXPECT_THAT(test.world.forgotten, ElementsAre(TestTables::hash(31)));
}

TEST_F(CheckpointsTest, AResultIsPaidForNoMoreThanItCouldHaveResumed) {
  test.run(1, 9, count_manifest(1, 2));
  restore(3, 30, 1);
  protocol::TaskResult result;
  result.task = {.job = TestTables::job_id(1), .index = 0};
  result.resumed = 0.9;

  EXPECT_EQ(checkpoints.resumed_share(result, TestTables::key(3)), 0.25);
  EXPECT_EQ(checkpoints.resumed_share(result, TestTables::key(4)), 0);
}

TEST_F(CheckpointsTest, RowsAndBlobsGoWithTheTask) {
  test.run(1, 9, count_manifest(2, 2));
  restore(3, 30);
  restore(4, 40);
  checkpoints.forget(TestTables::job_id(1));
  EXPECT_THAT(test.world.forgotten, IsEmpty()) << "the rows are still stored";

  test.land();

  EXPECT_THAT(test.world.forgotten, ElementsAre(TestTables::hash(30), TestTables::hash(40)));
  ASSERT_THAT(test.world.stored.checkpoints, SizeIs(2));
  EXPECT_EQ(test.world.stored.checkpoints[0].change, store::Change::remove);
  EXPECT_THAT(leased_to(3).resume, IsEmpty());
}

TEST_F(CheckpointsTest, RowsOfTasksThatAreNotOpenAreRemoved) {
  restore(3, 30);

  ASSERT_THAT(test.tables.outbox.batch().checkpoints, SizeIs(1));
  EXPECT_EQ(test.tables.outbox.batch().checkpoints[0].change, store::Change::remove);
}

}  // namespace
}  // namespace weft::jobs
