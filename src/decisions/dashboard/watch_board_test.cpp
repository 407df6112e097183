// The reports to watchers are consistent: a snapshot and the deltas after it give the state of the
// network, whatever happens between two calls of advance(). The source is scripted; all reports are
// written to JSON and read again, as on the wire.
#include "decisions/dashboard/watch_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

namespace weft::dashboard {
namespace {

namespace watch = protocol::watch;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

JobId job_id(std::uint8_t number) {
  JobId id;
  id.bytes[0] = number;
  return id;
}
PublicKey key_of(std::uint8_t number) {
  PublicKey key;
  key.bytes[0] = number;
  return key;
}

// A network that a test changes step by step.
class ScriptedSource final : public WatchSource {
 public:
  struct Job {
    std::vector<watch::TaskState> tasks;
    std::int64_t created = 0;
    MicroCredits price = 0;
  };
  std::map<JobId, Job> jobs;
  std::map<PublicKey, WorkerNow> workers;

  void add_job(std::uint8_t number, std::uint32_t tasks) {
    jobs[job_id(number)] = {
        .tasks = std::vector(tasks, watch::TaskState::waiting), .created = number, .price = 0};
  }
  void add_worker(std::uint8_t number, std::uint64_t session = 1) {
    workers[key_of(number)] = {.key = key_of(number), .session = session};
  }

  std::vector<JobId> watched_jobs(std::size_t count) const override {
    std::vector<JobId> ids;
    for (auto job = jobs.rbegin(); job != jobs.rend() && ids.size() < count; ++job)
      ids.push_back(job->first);
    return ids;
  }
  std::size_t jobs_running() const override { return jobs.size(); }
  watch::Job watched_head(const JobId& id) const override {
    const Job& job = jobs.at(id);
    watch::Job head;
    head.id = id.text();
    head.state = "running";
    head.tasks = static_cast<std::uint32_t>(job.tasks.size());
    head.created = job.created;
    head.price = job.price;
    return head;
  }
  watch::TaskState watched_task(const TaskId& task) const override {
    return jobs.at(task.job).tasks.at(task.index);
  }
  void each_worker(const std::function<void(const WorkerNow&)>& use) const override {
    for (const auto& [key, worker] : workers) use(worker);
  }
  watch::Worker watched_worker(const PublicKey& key) const override {
    watch::Worker worker;
    worker.key = key.text();
    return worker;
  }
};

// The knowledge of a watcher that got every report.
struct Known {
  struct Job {
    watch::Job head;
    std::vector<watch::TaskState> tasks;
  };
  std::uint64_t sequence = 0;
  std::map<std::string, Job> jobs;
  std::map<std::uint32_t, std::string> workers;
  std::map<std::uint32_t, std::uint32_t> held;

  void take(const watch::Job& told) {
    Job& job = jobs[told.id];
    job.head = told;
    if (!told.mapped) return;
    job.tasks.resize(told.tasks);
    ASSERT_TRUE(watch::apply(told.map, job.tasks).has_value());
  }
  void take(const watch::Loads& loads) {
    for (std::size_t i = 0; i < loads.number.size(); ++i) held[loads.number[i]] = loads.held[i];
  }
  void take_snapshot(const std::string& text) {
    const auto snapshot = watch::decode_snapshot(text);
    ASSERT_TRUE(snapshot.has_value()) << snapshot.error().message;
    *this = {};
    sequence = snapshot->sequence;
    for (const auto& job : snapshot->jobs) take(job);
    for (const auto& worker : snapshot->workers) workers[worker.number] = worker.key;
    take(snapshot->loads);
  }
  void take_delta(const std::string& text) {
    const auto delta = watch::decode_delta(text);
    ASSERT_TRUE(delta.has_value()) << delta.error().message;
    EXPECT_EQ(delta->sequence, sequence + (delta->empty() ? 0 : 1));
    sequence = delta->sequence;
    for (const auto& job : delta->jobs) take(job);
    for (const auto& id : delta->jobs_gone) jobs.erase(id);
    for (const auto number : delta->left) {
      workers.erase(number);
      held.erase(number);
    }
    for (const auto& worker : delta->joined) workers[worker.number] = worker.key;
    take(delta->loads);
  }
};

TEST(WatchBoard, NothingIsToldWhereNothingChanges) {
  ScriptedSource source;
  source.add_job(1, 10);
  source.add_worker(1);
  WatchBoard board;

  const auto first = board.advance(source, 1000);
  const auto second = board.advance(source, 1250);

  EXPECT_FALSE(first.empty());
  EXPECT_TRUE(second.empty());
  EXPECT_EQ(second.sequence, first.sequence);
}

TEST(WatchBoard, OnlyTasksThatWereTouchedAndChangedAreTold) {
  ScriptedSource source;
  source.add_job(1, 1000);
  WatchBoard board;
  (void)board.advance(source, 1000);
  source.jobs[job_id(1)].tasks[7] = watch::TaskState::leased;

  board.touch({.job = job_id(1), .index = 7});
  board.touch({.job = job_id(1), .index = 7});
  board.touch({.job = job_id(1), .index = 9});
  board.touch({.job = job_id(1), .index = 5000});
  board.touch({.job = job_id(2), .index = 0});
  const auto delta = board.advance(source, 1250);

  ASSERT_THAT(delta.jobs, SizeIs(1));
  EXPECT_THAT(delta.jobs[0].map.first, ElementsAre(7));
  EXPECT_THAT(delta.jobs[0].counts, ElementsAre(999, 1, 0, 0, 0));
}

TEST(WatchBoard, SnapshotAndDeltasAddUpToTheNetworkWhateverHappens) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    std::minstd_rand engine(seed);
    const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
    ScriptedSource source;
    WatchBoard board;
    (void)board.advance(source, 1);
    Known early;
    early.take_snapshot(watch::encode(board.snapshot()));
    std::array<int, 6> ended{};
    for (int step = 0; step < 60; ++step) {
      for (int event = 0; event < 8; ++event) {
        const auto number = static_cast<std::uint8_t>(random() % 6);
        const auto name = static_cast<std::uint8_t>(number + 6 * ended[number]);
        const auto id = job_id(name);
        switch (random() % 8) {
          case 0:
            if (!source.jobs.contains(id)) source.add_job(name, 1 + random() % 50);
            break;
          case 1:
            if (source.jobs.contains(id)) {
              auto head = source.watched_head(id);
              head.state = random() % 2 == 0 ? "done" : "failed";
              head.ended = step;
              board.ended(source, id, head);
              source.jobs.erase(id);
              ++ended[number];  // An id is used once.
            }
            break;
          case 2:
            source.add_worker(number, random() % 2);
            break;
          case 3:
            source.workers.erase(key_of(number));
            break;
          case 4:
            if (source.workers.contains(key_of(number)))
              source.workers[key_of(number)].held = random() % 5;
            break;
          default:
            if (source.jobs.contains(id)) {
              auto& tasks = source.jobs[id].tasks;
              const auto index = static_cast<std::uint32_t>(random() % tasks.size());
              tasks[index] = static_cast<watch::TaskState>(random() % watch::task_states);
              board.touch({.job = id, .index = index});
            }
        }
      }
      early.take_delta(watch::encode(board.advance(source, step)));
    }

    std::map<std::string, std::uint32_t> held;
    for (const auto& [number, key] : early.workers) held[key] = early.held.at(number);
    std::map<std::string, std::uint32_t> expected;
    for (const auto& [key, worker] : source.workers) expected[key.text()] = worker.held;
    EXPECT_EQ(held, expected) << "seed " << seed;
    for (const auto& [id, job] : source.jobs) {
      ASSERT_TRUE(early.jobs.contains(id.text())) << "seed " << seed;
      EXPECT_EQ(early.jobs.at(id.text()).tasks, job.tasks) << "seed " << seed;
    }
    Known now;
    now.take_snapshot(watch::encode(board.snapshot()));
    EXPECT_EQ(now.sequence, early.sequence);
    ASSERT_EQ(now.jobs.size(), early.jobs.size()) << "seed " << seed;
    for (const auto& [id, job] : now.jobs) {
      EXPECT_EQ(job.tasks, early.jobs.at(id).tasks) << "seed " << seed;
      EXPECT_EQ(job.head.counts, early.jobs.at(id).head.counts) << "seed " << seed;
      EXPECT_EQ(job.head.state, early.jobs.at(id).head.state) << "seed " << seed;
    }
  }
}

TEST(WatchBoard, AnEndedJobIsShownALittleLongerWithNothingUnderWay) {
  ScriptedSource source;
  source.add_job(1, 4);
  WatchBoard board;
  (void)board.advance(source, 1);
  source.jobs[job_id(1)].tasks = {watch::TaskState::accepted, watch::TaskState::leased,
                                  watch::TaskState::refused, watch::TaskState::checking};
  for (std::uint32_t i = 0; i < 4; ++i) board.touch({.job = job_id(1), .index = i});
  auto head = source.watched_head(job_id(1));
  head.state = "cancelled";

  board.ended(source, job_id(1), head);
  source.jobs.clear();
  const auto delta = board.advance(source, 2);

  ASSERT_THAT(delta.jobs, SizeIs(1));
  EXPECT_EQ(delta.jobs[0].state, "cancelled");
  EXPECT_THAT(delta.jobs[0].counts, ElementsAre(2, 0, 0, 1, 1));
  EXPECT_THAT(delta.jobs_gone, IsEmpty());
}

TEST(WatchBoard, KeepsFewEndedJobsWhetherOrNotAPageWatches) {
  for (const bool watched : {false, true}) {
    ScriptedSource source;
    WatchBoard board;
    if (watched) (void)board.advance(source, 1);
    for (std::uint8_t number = 1; number <= 100; ++number) {
      source.add_job(number, 2);
      if (watched) (void)board.advance(source, number);
      auto head = source.watched_head(job_id(number));
      head.state = "done";
      head.ended = number;
      board.ended(source, job_id(number), head);
      source.jobs.clear();
    }
    (void)board.advance(source, 1000);

    const auto snapshot = board.snapshot();

    EXPECT_THAT(snapshot.jobs, SizeIs(WatchBoard::ended_max));
    EXPECT_EQ(snapshot.jobs.front().ended, 100);
  }
}

TEST(WatchBoard, AJobWithTooManyTasksIsShownWithoutThem) {
  ScriptedSource source;
  source.add_job(1, WatchBoard::tasks_max);
  source.add_job(2, 10);
  WatchBoard board;

  const auto delta = board.advance(source, 1);

  ASSERT_THAT(delta.jobs, SizeIs(2));
  EXPECT_FALSE(delta.jobs[0].mapped);
  EXPECT_TRUE(delta.jobs[0].map.packed.empty());
  EXPECT_TRUE(delta.jobs[1].mapped);
}

TEST(WatchHistory, HasARowForEverySecondWithItsLatencies) {
  WatchHistory history;
  history.roll(10'000, {});
  for (int i = 1; i <= 100; ++i) history.accepted(std::chrono::milliseconds(i), 5);
  history.refused();

  ASSERT_TRUE(history.is_over(13'000));
  history.roll(13'000, {.workers = 2, .open = 3, .per_unit = 4});
  const auto rows = history.since(0);

  ASSERT_THAT(rows.time, ElementsAre(9'000, 10'000, 11'000, 12'000));
  EXPECT_THAT(rows.accepted, ElementsAre(0, 100, 0, 0));
  EXPECT_THAT(rows.refused, ElementsAre(0, 1, 0, 0));
  EXPECT_EQ(rows.paid[1], 500);
  EXPECT_NEAR(rows.latency_ms[1], 50, 1);
  EXPECT_NEAR(rows.latency_high_ms[1], 90, 1);
  EXPECT_EQ(rows.latency_ms[2], 0);
  EXPECT_EQ(rows.open[3], 3U);
  EXPECT_THAT(history.since(history.rows()).time, IsEmpty());
}

TEST(WatchHistory, IsBoundedWhateverTheClockDoes) {
  WatchHistory history;
  history.roll(1'000, {});
  history.roll(1'000'000'000'000, {});
  history.roll(5'000, {});

  EXPECT_LE(history.since(0).time.size(), WatchHistory::seconds_max);
}

}  // namespace
}  // namespace weft::dashboard
