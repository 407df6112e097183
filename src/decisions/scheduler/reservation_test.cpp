// Tests promised room: a task that needs much room is promised it and is never delayed by later
// tasks, which may use the room until then.
#include "decisions/scheduler/reservation.h"

#include <gtest/gtest.h>

#include <random>

#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

TEST(EarliestStart, IsNowWhereThereIsRoom) {
  const std::vector<Occupant> there = {{.ends = at(5), .memory_bytes = gib}};
  EXPECT_EQ(earliest_start({.memory_bytes = 4 * gib, .slots = 2}, there, 3 * gib, at(1)), at(1));
}

TEST(EarliestStart, WaitsForMemoryAndForASlot) {
  const std::vector<Occupant> there = {{.ends = at(9), .memory_bytes = 2 * gib},
                                       {.ends = at(5), .memory_bytes = gib}};
  const Room room{.memory_bytes = 4 * gib, .slots = 3};
  EXPECT_EQ(earliest_start(room, there, 2 * gib, at(1)), at(5));
  EXPECT_EQ(earliest_start(room, there, 4 * gib, at(1)), at(9));
  EXPECT_EQ(earliest_start({.memory_bytes = 4 * gib, .slots = 2}, there, 1, at(1)), at(5));
  EXPECT_EQ(earliest_start(room, there, 5 * gib, at(1)), std::nullopt);
  EXPECT_EQ(earliest_start(room, there, 2 * gib, at(7)), at(7)) << "what is late ends now";
}

TEST(MayBackfill, TakesWhatEndsBeforeOrIsNotNeededThen) {
  const Room room{.memory_bytes = 4 * gib, .slots = 4};
  const std::vector<Occupant> there = {{.ends = at(10), .memory_bytes = 3 * gib}};
  EXPECT_TRUE(may_backfill(room, there, {.start = at(10), .memory_bytes = 4 * gib},
                           {.ends = at(10), .memory_bytes = gib}));
  EXPECT_FALSE(may_backfill(room, there, {.start = at(10), .memory_bytes = 4 * gib},
                            {.ends = at(11), .memory_bytes = gib}));
  EXPECT_TRUE(may_backfill(room, there, {.start = at(10), .memory_bytes = 3 * gib},
                           {.ends = at(11), .memory_bytes = gib}));
  EXPECT_FALSE(may_backfill({.memory_bytes = 4 * gib, .slots = 1}, there,
                            {.start = at(10), .memory_bytes = gib},
                            {.ends = at(11), .memory_bytes = 0}));
}

// Two shared workers get an endless stream of small tasks, and now and then a job that needs a
// whole worker. A task takes between a third of its predicted time and all of it.
class Stream {
 public:
  explicit Stream(std::uint64_t seed) : random_(seed), seed_(seed) {
    for (std::uint64_t number : {1, 2}) {
      Worker worker = native_worker(number);
      worker.sharing = Sharing::sliced;
      worker.capabilities.memory_bytes = 4 * gib;
      EXPECT_TRUE(scheduler_.add_worker(worker, at(0)).has_value());
    }
  }

  void run(double until) {
    double next_big = 20;
    while (time_ < until) {
      while (waiting_small_ < 12) submit_small();
      if (time_ >= next_big) {
        submit_big();
        next_big += 60;
      }
      for (const Lease& lease : all<Lease>(scheduler_.decide(at(time_)))) start(lease);
      watch();
      step();
      if (testing::Test::HasFailure()) return;
    }
  }

  std::uint64_t bigs = 0;
  std::uint64_t bigs_started = 0;
  // The number of small tasks that started on the worker of a promised task before this task.
  std::uint64_t backfilled = 0;
  double longest_wait = 0;

 private:
  struct Waiting {
    double since = 0;
    std::optional<Instant> promised;
    PublicKey worker;
    bool first = false;  // True if no earlier job waited at that time.
  };

  Job job(std::uint64_t memory, double task_seconds) {
    // Predictions assume four busy slots.
    Job made = known_job(next_job_++, 1, 1, task_seconds / 10 / 4);
    made.requirements.memory_bytes = memory;
    return made;
  }
  void submit_small() {
    const Job made = job(gib, 1.0 + static_cast<double>(random_() % 90) / 10);
    takes_[made.id] = made.estimate->reference_seconds_per_workgroup * 40;
    order_[made.id] = next_job_;
    ++waiting_small_;
    ASSERT_TRUE(scheduler_.add_job(made, at(time_)).has_value());
  }
  void submit_big() {
    const Job made = job((3 + random_() % 2) * gib, 4);
    takes_[made.id] = 4;
    order_[made.id] = next_job_;
    big_[made.id] = {.since = time_, .promised = {}, .worker = {}, .first = false};
    ++bigs;
    ASSERT_TRUE(scheduler_.add_job(made, at(time_)).has_value());
  }
  void start(const Lease& lease) {
    ASSERT_EQ(lease.tasks.size(), 1U);
    const double real =
        takes_.at(lease.job) * (1.0 / 3 + static_cast<double>(random_() % 1000) / 1500);
    running_.insert({time_ + real, TaskResult{.task = {lease.job, 0},
                                              .worker = lease.worker,
                                              .attempt = lease.tasks[0].attempt,
                                              .gpu_seconds = 0}});
    if (const auto big = big_.find(lease.job); big != big_.end()) {
      ++bigs_started;
      longest_wait = std::max(longest_wait, time_ - big->second.since);
      if (big->second.promised) {
        EXPECT_LE(at(time_), *big->second.promised) << "seed " << seed_ << ": delayed";
      }
      big_.erase(big);
      return;
    }
    --waiting_small_;
    for (const auto& [id, waiting] : big_) {
      if (!waiting.promised || order_.at(id) > order_.at(lease.job)) continue;
      if (waiting.worker == lease.worker) ++backfilled;
    }
  }
  // Checks that a promise is kept: only tasks that come before the promised one may move it.
  void watch() {
    for (const ReservationView& view : scheduler_.views().reservations()) {
      const auto big = big_.find(view.job);
      if (big == big_.end()) continue;
      const bool first = std::ranges::none_of(order_, [&](const auto& other) {
        return other.second < order_.at(view.job) && !started(other.first);
      });
      if (big->second.promised && big->second.first) {
        EXPECT_LE(view.start, *big->second.promised) << "seed " << seed_;
      }
      big->second.promised = view.start;
      big->second.worker = view.worker;
      big->second.first = first;
    }
  }
  bool started(const JobId& id) const {
    return !scheduler_.views().progress(id) || scheduler_.views().progress(id)->leased > 0;
  }
  void step() {
    if (running_.empty()) {
      time_ += 0.1;
      return;
    }
    time_ = std::max(time_, running_.begin()->first);
    while (!running_.empty() && running_.begin()->first <= time_) {
      const TaskResult done = running_.begin()->second;
      running_.erase(running_.begin());
      ASSERT_TRUE(scheduler_.result(done, at(time_)).has_value());
      scheduler_.counted(done.task, done.worker);
      scheduler_.settled(done.task);
      scheduler_.remove_job(done.task.job, "The job is done.");
      order_.erase(done.task.job);
    }
    for (std::uint64_t number : {1, 2}) scheduler_.heard(key_of(number), at(time_));
  }

  static Settings settings() {
    Settings chosen;
    chosen.beat = std::chrono::hours(1);
    chosen.speculation.enabled = false;
    chosen.leaving_risk_max = 1;
    return chosen;
  }
  std::mt19937_64 random_;
  const std::uint64_t seed_;
  Scheduler scheduler_{settings()};
  double time_ = 0;
  std::uint64_t next_job_ = 1;
  int waiting_small_ = 0;
  std::map<JobId, double> takes_;  // Predicted seconds of each job's task if all slots are busy.
  std::map<JobId, std::uint64_t> order_;
  std::map<JobId, Waiting> big_;
  std::multimap<double, TaskResult> running_;
};

TEST(Reservation, NeverDelaysThePromisedTaskAndStillFillsTheGaps) {
  std::uint64_t backfilled = 0;
  for (std::uint64_t seed = 1; seed <= 20 && !HasFailure(); ++seed) {
    Stream stream(seed);
    stream.run(600);
    EXPECT_GE(stream.bigs, 9U);
    EXPECT_GE(stream.bigs_started + 1, stream.bigs) << "seed " << seed << ": a large task starves";
    EXPECT_LT(stream.longest_wait, 60) << "seed " << seed;
    backfilled += stream.backfilled;
  }
  EXPECT_GT(backfilled, 50U) << "and the worker was not merely drained";
}

TEST(Sliced, NeverHoldsMoreMemoryThanTheWorkerHas) {
  Scheduler scheduler;
  Worker worker = native_worker(1);
  worker.sharing = Sharing::sliced;
  worker.capabilities.memory_bytes = 4 * gib;
  ASSERT_TRUE(scheduler.add_worker(worker, at(0)).has_value());
  for (std::uint64_t number = 1; number <= 6; ++number) {
    Job job = known_job(number, 1);
    job.requirements.memory_bytes = 3 * gib / 2;
    ASSERT_TRUE(scheduler.add_job(job, at(0)).has_value());
  }

  EXPECT_EQ(all<Lease>(scheduler.decide(at(0))).size(), 2U);
}

}  // namespace
}  // namespace weft::scheduler
