// Tests that newcomers get no task whose result could not be checked in time, and that the queue of
// a verifier stays bounded, however many wallets ask for checks.
#include "decisions/scheduler/sample_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <map>
#include <set>

#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

constexpr double ten_minutes = 600;

class SampleQueueTest : public testing::Test {
 protected:
  static SampleQueue::Sample sample(std::uint64_t job, const std::string& group = "") {
    return {.job = job_id_of(job), .group = group, .workgroups = 10};
  }
  static TaskId task(std::uint64_t job, std::uint32_t index) {
    return {.job = job_id_of(job), .index = index};
  }
  void add(std::uint64_t job, std::uint32_t index, const std::string& group = "") {
    queue.add(task(job, index), key_of(1), sample(job, group));
  }
  // Makes checks of this job take `seconds`.
  void measure(std::uint64_t job, double seconds) {
    constexpr std::uint32_t index = 1'000'000;
    add(job, index);
    queue.begin(task(job, index), key_of(1), 10, at(time));
    queue.end(task(job, index), key_of(1), SampleQueue::Outcome::checked, at(time += seconds));
    queue.decide(task(job, index), key_of(1));
  }
  [[nodiscard]] bool admits(std::uint64_t job, const std::string& group = "") const {
    return queue.admits(sample(job, group), ten_minutes, at(time));
  }

  SampleQueue queue;
  double time = 0;
};

TEST_F(SampleQueueTest, AdmitsAsLongAsTheChecksOfWhatIsThereAreDoneInTime) {
  measure(1, 50);
  for (std::uint32_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(admits(1)) << i;
    add(1, i);
  }

  EXPECT_FALSE(admits(1)) << "it could take 700 s: seven checks, and as much time for others";
  EXPECT_NEAR(queue.wait(sample(1), at(time)), 700, 1);
  (void)queue.take_fallen();
  queue.remove(task(1, 0), key_of(1));
  EXPECT_TRUE(queue.take_fallen());
  EXPECT_TRUE(admits(1));
}

TEST_F(SampleQueueTest, FollowsWhatChecksTake) {
  measure(1, 1);
  for (std::uint32_t i = 0; i < 100; ++i) add(1, i);
  EXPECT_TRUE(admits(1));

  for (int i = 0; i < 20; ++i) measure(1, 50);

  EXPECT_FALSE(admits(1)) << "what waits takes longer than was expected of it";
  for (int i = 0; i < 40; ++i) measure(1, 1);
  EXPECT_TRUE(admits(1));
}

TEST_F(SampleQueueTest, ACheckThatDoesNotEndDelaysAllThatComeAfterIt) {
  measure(1, 1);
  add(1, 0);
  queue.begin(task(1, 0), key_of(1), 10, at(time));
  EXPECT_TRUE(admits(1));

  time += 700;

  EXPECT_FALSE(admits(1));
  EXPECT_FALSE(admits(2)) << "of no job";
  queue.end(task(1, 0), key_of(1), SampleQueue::Outcome::failed, at(time));
  EXPECT_TRUE(admits(1)) << "it came to nothing, and the verifier goes on";
}

TEST_F(SampleQueueTest, OneNetworkLeavesMostOfTheTimeToOthers) {
  measure(1, 10);
  std::uint32_t index = 0;
  while (admits(1, "192.0.2.0/24")) add(1, index++, "192.0.2.0/24");

  EXPECT_EQ(index, 7U) << "a quarter of 300 s";
  for (const char* other : {"198.51.100.0/24", "203.0.113.0/24", "198.18.0.0/24"}) {
    for (std::uint32_t i = 0; i < 7; ++i) {
      EXPECT_TRUE(admits(1, other)) << other << " " << i;
      add(1, index++, other);
    }
  }
  EXPECT_TRUE(admits(1, "198.19.0.0/24"));
  add(1, index++, "198.19.0.0/24");
  add(1, index++, "198.19.1.0/24");
  EXPECT_FALSE(admits(1, "198.19.2.0/24")) << "thirty checks of ten seconds are what can be done";
}

TEST_F(SampleQueueTest, OneResultOfANetworkIsTakenHoweverLongItsCheck) {
  measure(1, 100);
  EXPECT_TRUE(admits(1, "192.0.2.0/24"));
  add(1, 0, "192.0.2.0/24");

  EXPECT_FALSE(admits(1, "192.0.2.0/24"));
  EXPECT_TRUE(admits(1, "198.51.100.0/24"));
}

TEST_F(SampleQueueTest, OfAJobThatNoVerifierCanCheckNothingMoreIsGiven) {
  measure(1, 1);
  measure(2, 1);
  add(1, 0);
  add(2, 0);
  queue.begin(task(1, 0), key_of(1), 10, at(time));

  queue.stall(task(1, 0), key_of(1));

  time += 10'000;
  EXPECT_FALSE(admits(1));
  EXPECT_TRUE(admits(2)) << "other jobs do not wait for it";
  queue.begin(task(1, 0), key_of(1), 10, at(time));
  EXPECT_TRUE(admits(1)) << "a verifier is there";
}

TEST_F(SampleQueueTest, TheOperatorsDeviceShowsWhatTheChecksOfAJobTake) {
  queue.expect(job_id_of(1), 0.01);
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(admits(1));
    add(1, i);
  }

  queue.expect(job_id_of(2), 100);
  EXPECT_FALSE(admits(2));
}

TEST_F(SampleQueueTest, OfAJobWhoseChecksWereNotMeasuredAFewAreGiven) {
  measure(50, 1);
  for (std::uint32_t i = 0; i < SampleQueue::unmeasured_max; ++i) {
    EXPECT_TRUE(admits(1));
    add(1, i);
  }
  EXPECT_FALSE(admits(1));
  EXPECT_TRUE(admits(2));
  for (std::uint64_t job = 2; queue.size() < SampleQueue::unmeasured_all_max; ++job) {
    for (std::uint32_t i = 0; i < SampleQueue::unmeasured_max; ++i) add(job, i);
  }
  EXPECT_FALSE(admits(100)) << "nor of many such jobs";

  queue.begin(task(1, 0), key_of(1), 10, at(time));
  queue.end(task(1, 0), key_of(1), SampleQueue::Outcome::checked, at(time += 0.1));

  EXPECT_TRUE(admits(1));
}

TEST_F(SampleQueueTest, AnEmptyQueueTakesAResultWhateverItsCheckTook) {
  measure(1, 5'000);

  EXPECT_TRUE(admits(1)) << "or it would never be known that the verifier is faster now";
}

TEST_F(SampleQueueTest, NothingIsLeftOfAnEndedJob) {
  measure(1, 100);
  for (std::uint32_t i = 0; i < 20; ++i) add(1, i, "192.0.2.0/24");
  queue.begin(task(1, 0), key_of(1), 10, at(time));
  queue.stall(task(1, 1), key_of(1));

  queue.remove_job(job_id_of(1));

  EXPECT_EQ(queue.size(), 0U);
  time += 10'000;
  measure(2, 1);
  add(2, 0);
  EXPECT_LT(queue.wait(sample(2), at(time)), 10);
}

// Two hundred strangers run tasks of a second each, and a verifier takes ten seconds for each
// check.
class LateChecks {
 public:
  explicit LateChecks(bool samples_in_time) {
    Settings settings;
    settings.safeguards.samples_in_time = samples_in_time;
    settings.leaving_risk_max = 1;
    scheduler_.emplace(settings);
    for (std::uint64_t i = 1; i <= 200; ++i) join(i, Standing::newcomer);
    Job job = known_job(1, 20'000);
    job.sample_parts = 10;
    EXPECT_TRUE(scheduler_->add_job(job, at(0)).has_value());
  }
  void join(std::uint64_t number, Standing standing, bool local = false) {
    Worker worker = native_worker(number);
    worker.standing = standing;
    worker.local = local;
    if (!local) worker.prefix = "network " + std::to_string(number);
    EXPECT_TRUE(scheduler_->add_worker(worker, at(time)).has_value());
    here_.insert(number);
    if (standing != Standing::newcomer) trusted_.insert(worker.key);
  }
  void run(double seconds) {
    for (const double end = time + seconds; time < end; ++time) step();
  }
  [[nodiscard]] Scheduler& scheduler() { return *scheduler_; }
  [[nodiscard]] std::size_t leases_of(std::uint64_t number) { return leases_[key_of(number)]; }

  double time = 0;
  double longest_wait = 0;  // Seconds from a result to the end of its check.
  std::size_t checked = 0;
  bool verifier_works = true;

 private:
  struct Run {
    TaskId task;
    PublicKey worker;
    std::uint32_t attempt = 0;
    double since = 0;
  };
  void step() {
    for (const std::uint64_t number : here_) scheduler_->heard(key_of(number), at(time));
    for (const Run& run : std::exchange(running_, {})) {
      if (!scheduler_->result(
              {.task = run.task, .worker = run.worker, .attempt = run.attempt, .gpu_seconds = 1},
              at(time)))
        continue;
      scheduler_->counted(run.task, run.worker);
      if (trusted_.contains(run.worker)) {
        scheduler_->settled(run.task, std::array{run.worker});
        continue;
      }
      scheduler_->checks().begins(run.task, run.worker, 1, at(time));
      waiting_[run.worker].push_back(
          {.task = run.task, .worker = run.worker, .attempt = run.attempt, .since = time});
    }
    if (checking_ && time >= check_ends_ && verifier_works) {
      ++checked;
      longest_wait = std::max(longest_wait, time - checking_->since);
      scheduler_->checks().ends(checking_->task, checking_->worker, SampleQueue::Outcome::checked,
                                at(time));
      scheduler_->settled(checking_->task, std::array{checking_->worker});
      checking_.reset();
    }
    if (!checking_ && !waiting_.empty()) {
      auto turn = waiting_.upper_bound(last_turn_);
      if (turn == waiting_.end()) turn = waiting_.begin();
      last_turn_ = turn->first;
      checking_ = turn->second.front();
      turn->second.pop_front();
      if (turn->second.empty()) waiting_.erase(turn);
      check_ends_ = time + 10;
    }
    for (const Lease& lease : all<Lease>(scheduler_->decide(at(time)))) {
      for (const auto& task : lease.tasks) {
        ++leases_[lease.worker];
        running_.push_back({.task = {lease.job, task.index},
                            .worker = lease.worker,
                            .attempt = task.attempt,
                            .since = time});
      }
    }
  }

  std::optional<Scheduler> scheduler_;
  std::set<std::uint64_t> here_;
  std::set<PublicKey> trusted_;
  std::vector<Run> running_;
  // Results that wait for a check, by worker. Each worker counts as a network, and networks take
  // turns.
  std::map<PublicKey, std::deque<Run>> waiting_;
  PublicKey last_turn_{};
  std::map<PublicKey, std::size_t> leases_;
  std::optional<Run> checking_;
  double check_ends_ = 0;
};

TEST(SamplesInTime, NoMoreWaitsForTheVerifierThanItChecksInTenMinutes) {
  LateChecks late(true);
  late.run(3'000);
  EXPECT_GT(late.checked, 250U) << "the verifier has enough to do";
  EXPECT_GT(late.longest_wait, 200) << "and as much as that waits for it";
  EXPECT_LE(late.longest_wait, ten_minutes);

  LateChecks piles_up(false);
  piles_up.run(3'000);
  EXPECT_GT(piles_up.longest_wait, 2 * ten_minutes);
}

TEST(SamplesInTime, KnownAndLocalWorkersGetTasksAllTheSame) {
  LateChecks late(true);
  late.run(1'000);
  ASSERT_GT(late.scheduler().views().sample_wait(at(late.time)), ten_minutes - 30);
  late.join(1001, Standing::established);
  late.join(1002, Standing::invited);
  late.join(500, Standing::newcomer, true);

  late.run(20);

  EXPECT_GT(late.leases_of(1001), 5U);
  EXPECT_GT(late.leases_of(1002), 5U);
  EXPECT_GT(late.leases_of(500), 5U);
}

TEST(SamplesInTime, AJobThatWaitsForChecksSaysSo) {
  LateChecks late(true);
  late.run(100);
  late.verifier_works = false;

  late.run(1'500);

  EXPECT_TRUE(late.scheduler().views().samples_are_late(at(late.time)));
  const auto waiting = late.scheduler().views().waiting(job_id_of(1), at(late.time));
  ASSERT_TRUE(waiting.has_value());
  EXPECT_EQ(to_string(waiting->reason), "checks");
  EXPECT_NE(sentence(*waiting).find("would wait too long for a check"), std::string::npos);

  late.verifier_works = true;
  const std::size_t before = late.checked;
  late.run(600);
  EXPECT_GT(late.checked, before + 50);
}

}  // namespace
}  // namespace weft::scheduler
