// Room for jobs is counted by owner and in all, and is free again when a job is removed.
#include "decisions/jobs/running_jobs.h"

#include <gtest/gtest.h>

#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

CoreSettings small_room() {
  CoreSettings settings;
  settings.jobs_running_max = 3;
  settings.tasks_open_max = 100;
  settings.jobs_per_client_max = 2;
  settings.tasks_per_client_max = 10;
  return settings;
}

TEST(RunningJobs, AnOwnerHasItsOwnBounds) {
  TestTables test(small_room());
  test.run(1, 7, count_manifest(4, 1));
  test.run(2, 7, count_manifest(4, 1));
  RunningJobs& jobs = test.tables.jobs;

  const auto third = jobs.room_for(TestTables::owner(7), 1);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::resource_exhausted);
  EXPECT_NE(third.error().message.find("The client has 2 jobs with 8 tasks"), std::string::npos)
      << third.error().message;
  EXPECT_TRUE(jobs.room_for(TestTables::owner(8), 10));
  EXPECT_FALSE(jobs.room_for(TestTables::owner(8), 11)) << "more tasks than one client may have";

  jobs.remove(TestTables::job_id(1));
  EXPECT_TRUE(jobs.room_for(TestTables::owner(7), 6));
  EXPECT_EQ(test.book.load_of(TestTables::owner(7)).tasks, 4U);
}

TEST(RunningJobs, OpenTasksAreCountedUntilTheyAreAcceptedOrTheirJobEnds) {
  TestTables test(small_room());
  RunningJob& job = test.run(1, 7, count_manifest(4, 1));
  EXPECT_EQ(test.tables.jobs.tasks_open(), 4U);

  test.tables.jobs.accept(job, 2, {.root = TestTables::hash(1), .outputs = {}});

  EXPECT_EQ(test.tables.jobs.tasks_open(), 3U);
  EXPECT_EQ(job.accepted_count, 1U);
  test.tables.jobs.remove(job.row.id);
  EXPECT_EQ(test.tables.jobs.tasks_open(), 0U);
}

TEST(RunningJobs, ThereIsABoundForAllClientsTogether) {
  TestTables test(small_room());
  for (std::uint8_t number = 1; number <= 3; ++number)
    test.run(number, number, count_manifest(1, 1));

  EXPECT_FALSE(test.tables.jobs.room_for(TestTables::owner(9), 1));
  EXPECT_TRUE(test.tables.jobs.any_of_client(TestTables::key(3)));
  EXPECT_FALSE(test.tables.jobs.any_of_client(TestTables::key(9)));
}

}  // namespace
}  // namespace weft::jobs
