// Tests that the benchmarks measure what they claim: the crowd completes whole jobs with a real
// coordinator, and the checker finds a priority inversion. No times are checked.
#include <gtest/gtest.h>

#include <filesystem>

#include "apps/bench/coordinator/crowd.h"
#include "apps/bench/coordinator/deep_queue.h"
#include "apps/bench/coordinator/stopped_network.h"
#include "apps/coordinator/coordinator.h"
#include "common/base/log.h"
#include "platform/store/sqlite/sqlite_store.h"

namespace weft::coordinator::bench {
namespace {

// A crowd that continues stopped work and a crowd with new jobs are one test, because a process can
// have only one coordinator.
TEST(Bench, ACrowdFinishesWhatAStoppedNetworkLeftAndThenItsOwnJobs) {
  set_log_level(LogLevel::error);
  std::string folder = (std::filesystem::temp_directory_path() / "weft-bench-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto path = std::filesystem::path(folder) / "weft.db";
  const auto left =
      leave_behind(folder, {.jobs = 5, .pending = 45, .running = 20, .settled = 15, .workers = 7});
  ASSERT_TRUE(left.has_value()) << left.error().message;
  {
    const auto store = store::sqlite::open(path).value();
    const auto loaded = store->load().value();
    EXPECT_EQ(loaded.jobs.size(), 5U);
    EXPECT_EQ(loaded.tasks.size(), 15U);
    EXPECT_EQ(loaded.replicas.size(), 20U);
    EXPECT_TRUE(store->audit().has_value());
  }
  auto coordinator = Coordinator::start({.port = 0, .data = folder, .rate_limit = 0}).value();
  const std::string url = coordinator->url();
  const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));

  {
    const auto crowd = Crowd::gather(
        {.port = port, .workers = 4, .slots = 1, .clients = 1, .tasks = 16, .replicas = 2});
    ASSERT_TRUE(crowd.has_value()) << crowd.error().message;
    const auto working = (*crowd)->until_all_have_work(std::chrono::seconds(30));
    ASSERT_TRUE(working.has_value()) << working.error().message;
    // The workers still hold their tasks when the crowd is destroyed a second later.
    const auto idle = (*crowd)->idle(std::chrono::seconds(1));
    ASSERT_TRUE(idle.has_value()) << idle.error().message;
  }
  const auto crowd = Crowd::gather(
      {.port = port, .workers = 4, .slots = 4, .clients = 2, .tasks = 8, .replicas = 2});
  ASSERT_TRUE(crowd.has_value()) << crowd.error().message;
  const auto closed = (*crowd)->run_closed(std::chrono::milliseconds(300));
  const auto open = (*crowd)->run_open(std::chrono::milliseconds(300), 20);

  ASSERT_TRUE(closed.has_value()) << closed.error().message;
  ASSERT_TRUE(open.has_value()) << open.error().message;
  EXPECT_GT(closed->tasks_done, 0U);
  EXPECT_GT(open->lease_seconds.size(), 1U);
  EXPECT_GT(std::ranges::min(open->lease_seconds), 0);
  coordinator.reset();
  const auto store = store::sqlite::open(path).value();
  EXPECT_TRUE(store->audit().has_value());
  std::size_t from_before = 0;
  for (const auto& job : store->jobs({.client = {}, .before = 0, .count = 100'000}).value()) {
    from_before += job.name.starts_with("stopped-") ? 1 : 0;
    EXPECT_EQ(job.state, store::JobState::done) << job.name << ": " << job.reason;
  }
  EXPECT_EQ(from_before, 5U);
  std::filesystem::remove_all(folder);
}

TEST(Bench, ADeepQueueIsEmptiedWithoutAnInversion) {
  const auto result = run_deep_queue({.tasks = 2'000, .workers = 200, .seed = 3});

  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->assignments, 2'000U);
  EXPECT_EQ(result->inversions, 0U);
}

TEST(Bench, TheCheckerSeesAPriorityInversion) {
  scheduler::Worker worker;
  worker.key.bytes[0] = 1;
  worker.capabilities.memory_bytes = 10;
  scheduler::Job first;
  first.id.bytes[0] = 1;
  scheduler::Job second = first;
  second.id.bytes[0] = 2;
  scheduler::Job too_large = first;
  too_large.id.bytes[0] = 3;
  too_large.requirements.memory_bytes = 11;
  InversionChecker checker;
  checker.worker(worker);
  checker.job(too_large, {.place = 0, .sequence = 1});
  checker.job(first, {.place = 1, .sequence = 2});
  checker.job(second, {.place = 2, .sequence = 3});

  checker.leased({.worker = worker.key, .job = second.id, .tasks = {{}}});
  EXPECT_EQ(checker.inversions(), 1U);
  checker.leased({.worker = worker.key, .job = first.id, .tasks = {{}}});
  EXPECT_EQ(checker.inversions(), 1U) << "what the worker cannot run does not count";
}

}  // namespace
}  // namespace weft::coordinator::bench
