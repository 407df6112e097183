// Tests that strangers can neither price a job, nor end it, nor hold its tasks without running
// them. Each rule is one field of Safeguards, and each test shows what happens without the rule.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

constexpr std::uint64_t stranger = 1000;

class SafeguardsTest : public testing::Test {
 protected:
  void start(const Safeguards& rules = {}) {
    Settings settings;
    settings.safeguards = rules;
    scheduler.emplace(settings);
    attempts.clear();
  }
  void join(std::uint64_t number, Standing standing = Standing::invited, double tflops = 1) {
    Worker worker = native_worker(number, tflops);
    worker.standing = standing;
    ASSERT_TRUE(scheduler->add_worker(worker, at(0)).has_value());
  }
  std::vector<Lease> decide(double time) {
    last = scheduler->decide(at(time));
    for (const Lease& lease : all<Lease>(last)) {
      for (const auto& task : lease.tasks)
        attempts[{{lease.job, task.index}, lease.worker}] = task.attempt;
    }
    return all<Lease>(last);
  }
  bool fail_all(double time, ErrorCode code) {
    bool any = false;
    const auto held = std::exchange(attempts, {});
    for (const auto& [of, attempt] : held)
      any = scheduler->failed(of.first, of.second, attempt, {code, "1:1: expected ;"}, at(time))
                .has_value() ||
            any;
    return any;
  }

  std::optional<Scheduler> scheduler;
  std::map<std::pair<TaskId, PublicKey>, std::uint32_t> attempts;
  std::vector<Decision> last;
};

// Before the rule, one stranger that called the shader wrong ended the job (finding H-1 of a
// review).
TEST_F(SafeguardsTest, StrangersThatFailDoNotEndAJob) {
  const auto ended = [&](const Safeguards& rules) {
    start(rules);
    join(1);
    for (std::uint64_t i = 0; i < 20; ++i) join(stranger + i, Standing::newcomer, 1000);
    EXPECT_TRUE(scheduler->add_job(known_job(1, 100, 1, 0.001), at(0)).has_value());
    for (int round = 0; round < 20; ++round) {
      scheduler->heard(key_of(1), at(round));
      (void)decide(round);
      if (!all<JobFailed>(last).empty()) return true;
      std::erase_if(attempts, [](const auto& each) { return each.first.second == key_of(1); });
      (void)fail_all(round + 0.5, ErrorCode::invalid_argument);
    }
    return false;
  };
  EXPECT_FALSE(ended({}));
  EXPECT_TRUE(ended({.newcomers_rank_last = false,
                     .trusted_blame = false,
                     .lost_goes_to_trusted = false,
                     .newcomer_share_max = 1}));
}

// Two strangers that lie and one honest worker that loses its connection must not end a job
// together.
TEST_F(SafeguardsTest, AnHonestWorkersBadLuckIsNoWitnessForStrangers) {
  start({.lost_goes_to_trusted = false, .newcomer_share_max = 1, .tries_are_spent = false});
  join(1);
  join(2);
  for (std::uint64_t i = 0; i < 2; ++i) join(stranger + i, Standing::newcomer);
  ASSERT_TRUE(scheduler->add_job(known_job(1, 1, 1, 0.001), at(0)).has_value());
  const auto only = [&](std::uint64_t number) {
    for (const std::uint64_t each : {std::uint64_t{1}, std::uint64_t{2}, stranger, stranger + 1})
      scheduler->set_leases_max(key_of(each), each == number ? 1 : 0);
  };
  double time = 0;
  for (const std::uint64_t number : {stranger, stranger + 1, std::uint64_t{1}}) {
    only(number);
    ASSERT_EQ(decide(time).size(), 1U) << number;
    ASSERT_TRUE(fail_all(time + 0.1, ErrorCode::internal));
    (void)scheduler->decide(at(time + 0.2));
    time += 1;
  }

  only(2);
  EXPECT_EQ(decide(time).size(), 1U) << "it goes on";
}

TEST_F(SafeguardsTest, StrangersRunNoCanary) {
  const auto taker = [&](bool rule) {
    start({.newcomers_rank_last = rule, .rates_are_shown = rule, .trusted_canaries = rule});
    join(1);
    join(stranger, Standing::newcomer, 1000);
    EXPECT_TRUE(scheduler->add_job(small_job(1), at(0)).has_value());
    const auto leases = decide(0);
    return leases.empty() ? PublicKey{} : leases[0].worker;
  };
  EXPECT_EQ(taker(true), key_of(1));
  EXPECT_EQ(taker(false), key_of(stranger)) << "the fastest claim had it";
}

TEST_F(SafeguardsTest, WithoutATrustedWorkerTheOperatorsDeviceMeasuresTheJob) {
  start();
  join(stranger, Standing::newcomer);
  ASSERT_TRUE(scheduler->add_job(small_job(1), at(0)).has_value());

  EXPECT_TRUE(decide(0).empty());
  ASSERT_EQ(all<CanaryWanted>(last).size(), 1U);
  EXPECT_TRUE(decide(1).empty());
  EXPECT_TRUE(all<CanaryWanted>(last).empty()) << "said once";
  scheduler->checks().canary_measured(
      job_id_of(1), {.workgroups = 10, .gpu_seconds = 1, .elapsed_seconds = 1, .rate = 0.1}, at(2));

  EXPECT_FALSE(decide(2).empty());
  EXPECT_TRUE(scheduler->views().progress(job_id_of(1))->canary_passed);
}

// If one of three established workers is slow, the times of the other two price the job.
class PricesTest : public SafeguardsTest {
 protected:
  // The price of the job when three tasks are done, in credits; 0 if the job ended. `seconds` are
  // the times of the tasks, the canary's first.
  double price(const std::vector<double>& seconds, MicroCredits budget,
               Standing standing = Standing::established) {
    start();
    for (std::uint64_t number = 1; number <= seconds.size(); ++number) join(number, standing);
    Job job = small_job(1, 32);
    job.budget = budget;
    EXPECT_TRUE(scheduler->add_job(job, at(0)).has_value());
    std::map<PublicKey, double> takes;
    double estimated = 0;
    double time = 0;
    for (std::size_t round = 0; round < 2 * seconds.size(); ++round) {
      for (std::uint64_t number = 1; number <= seconds.size(); ++number)
        scheduler->heard(key_of(number), at(time));
      const auto leases = decide(time);
      for (const auto& failed : all<JobFailed>(last)) return failed.reason.message.empty() ? 1 : 0;
      for (const auto& each : all<Estimated>(last))
        estimated = static_cast<double>(each.estimate.price) / 1e6;
      // Each worker runs its tasks one after the other, at the same time as the other workers.
      std::map<PublicKey, double> ends;
      std::multimap<double, std::function<void()>> results;
      for (const Lease& lease : leases) {
        const double took =
            takes.try_emplace(lease.worker, seconds[std::min(takes.size(), seconds.size() - 1)])
                .first->second;
        for (const auto& task : lease.tasks) {
          const double end = ends.try_emplace(lease.worker, time).first->second += took;
          results.emplace(end, [this, worker = lease.worker, attempt = task.attempt, end,
                                id = TaskId{.job = lease.job, .index = task.index}] {
            finish(worker, id, attempt, end);
          });
        }
      }
      for (const auto& [end, result] : results) {
        result();
        time = end;
      }
    }
    (void)decide(time);
    for (const auto& each : all<Estimated>(last))
      estimated = static_cast<double>(each.estimate.price) / 1e6;
    return estimated;
  }
  void finish(const PublicKey& worker, const TaskId& task, std::uint32_t attempt, double time) {
    scheduler->heard(worker, at(time));
    (void)scheduler->result({.task = task, .worker = worker, .attempt = attempt, .gpu_seconds = 0},
                            at(time));
    scheduler->counted(task, worker);
    scheduler->settled(task, std::array{worker});
  }
};

TEST_F(PricesTest, OneEstablishedWorkerThatTakesItsTimeMovesNoPrice) {
  const double honest = price({1, 1, 1}, 1'000'000'000);
  ASSERT_GT(honest, 0);
  EXPECT_NEAR(price({20, 1, 1}, 1'000'000'000), honest, honest / 4);
  EXPECT_NEAR(price({1, 20, 1}, 1'000'000'000), honest, honest / 4);
  // An invited worker is one of the operator's own: its canary is believed.
  EXPECT_GT(price({20, 1, 1}, 1'000'000'000, Standing::invited), 10 * honest);
}

TEST_F(PricesTest, OneEstablishedWorkerEndsNoJobAtItsCanary) {
  const auto budget = static_cast<MicroCredits>(price({1, 1, 1}, 1'000'000'000) * 2e6);
  EXPECT_GT(price({20, 1, 1}, budget), 0);
  EXPECT_EQ(price({20}, budget), 0) << "no other worker can measure it";
  EXPECT_EQ(price({20, 20, 20}, budget), 0) << "all of them say so";
}

// Before there was a rule, a job that was submitted before any worker came was never measured.
TEST_F(SafeguardsTest, AJobThatWaitedForItsFirstWorkerIsMeasuredByTheOperatorsDevice) {
  start();
  ASSERT_TRUE(scheduler->add_job(small_job(1), at(0)).has_value());
  EXPECT_TRUE(decide(0).empty());
  ASSERT_TRUE(all<CanaryWanted>(last).empty()) << "no worker could do the rest";

  join(stranger, Standing::newcomer);

  EXPECT_TRUE(decide(1).empty());
  EXPECT_EQ(all<CanaryWanted>(last).size(), 1U);
}

TEST_F(SafeguardsTest, AThousandHoardersHoldATenthOfAJob) {
  const auto held = [&](double share, bool last_rank) {
    start({.newcomers_rank_last = last_rank, .newcomer_share_max = share});
    for (std::uint64_t i = 1; i <= 10; ++i) join(i);
    for (std::uint64_t i = 0; i < 1000; ++i) join(stranger + i, Standing::newcomer);
    EXPECT_TRUE(scheduler->add_job(known_job(1, 500, 1, 1), at(0)).has_value());
    std::size_t count = 0;
    for (const Lease& lease : decide(0)) {
      std::uint64_t number = 0;
      std::memcpy(&number, lease.worker.bytes.data(), sizeof number);
      count += number >= stranger ? lease.tasks.size() : 0;
    }
    return count;
  };
  EXPECT_LE(held(0.1, true), 50U);
  EXPECT_GT(held(1, false), 400U);
}

// Before the rule, a thousand wallets that each took one lease and lost it made all tasks of a job
// run twice.
TEST_F(SafeguardsTest, ALeaseThatAStrangerLostCountsForGood) {
  const auto leased = [&](bool rule) {
    start({.tries_are_spent = rule});
    join(1);
    scheduler->set_leases_max(key_of(1), 0);
    for (std::uint64_t i = 0; i < 100; ++i) join(stranger + i, Standing::newcomer);
    EXPECT_TRUE(scheduler->add_job(known_job(1, 100, 1, 0.001), at(0)).has_value());
    std::size_t leases = 0;
    for (int round = 0; round < 5; ++round) {
      for (const Lease& lease : decide(round)) leases += lease.tasks.size();
      (void)fail_all(round + 0.5, ErrorCode::cancelled);
    }
    return leases;
  };
  EXPECT_EQ(leased(true), 10U);
  EXPECT_GT(leased(false), 30U);
}

TEST_F(SafeguardsTest, AResultOfAStrangersCountsUntilItIsAcceptedAndForGoodIfItIsWrong) {
  const auto leased_after = [&](bool rule, bool is_right) {
    start({.tries_are_spent = rule});
    join(1);
    scheduler->set_leases_max(key_of(1), 0);
    for (std::uint64_t i = 0; i < 20; ++i) join(stranger + i, Standing::newcomer);
    EXPECT_TRUE(scheduler->add_job(known_job(1, 10, 1, 0.001), at(0)).has_value());
    (void)decide(0);
    EXPECT_EQ(attempts.size(), 1U);
    const auto [of, attempt] = *attempts.begin();
    const auto& [task, by] = of;
    EXPECT_TRUE(scheduler->result(
        {.task = task, .worker = by, .attempt = attempt, .gpu_seconds = 0.01}, at(1)));
    scheduler->counted(task, by);
    if (rule) {
      EXPECT_TRUE(decide(1).empty()) << "it waits to be checked";
    }
    if (is_right) {
      scheduler->settled(task, std::array{by});
    } else {
      scheduler->bar(task, by);
      scheduler->settled(task, std::array{key_of(1)});
    }
    return decide(2).size();
  };
  EXPECT_EQ(leased_after(true, true), 1U);
  EXPECT_EQ(leased_after(true, false), 0U);
  EXPECT_EQ(leased_after(false, false), 1U);
}

TEST_F(SafeguardsTest, ATaskThatAStrangerWasWrongInGoesToATrustedWorkerNext) {
  const auto strangers_take_it = [&](bool rule, Barred from) {
    start({.lost_goes_to_trusted = rule, .newcomer_share_max = 1});
    join(1);
    scheduler->set_leases_max(key_of(1), 0);
    join(stranger, Standing::newcomer);
    EXPECT_TRUE(scheduler->add_job(known_job(1, 4, 1, 0.001), at(0)).has_value());
    scheduler->set_leases_max(key_of(stranger), 1);
    (void)decide(0);
    const auto [of, attempt] = *attempts.begin();
    const auto& [task, by] = of;
    EXPECT_TRUE(scheduler->result(
        {.task = task, .worker = by, .attempt = attempt, .gpu_seconds = 0.01}, at(1)));
    scheduler->counted(task, by);
    scheduler->bar(task, by, from);
    scheduler->want_replicas(task, 2);
    join(stranger + 1, Standing::newcomer);
    (void)decide(2);
    return attempts.contains({task, key_of(stranger + 1)});
  };
  for (const Barred from : {Barred::job, Barred::task}) {
    EXPECT_FALSE(strangers_take_it(true, from));
    EXPECT_TRUE(strangers_take_it(false, from));
  }
}

TEST_F(SafeguardsTest, AStrangerWhoseResultWasLostGetsOtherTasksOfTheJob) {
  const auto gets_more = [&](Barred from) {
    start({.newcomer_share_max = 1});
    join(stranger, Standing::newcomer);
    EXPECT_TRUE(scheduler->add_job(known_job(1, 4, 1, 0.001), at(0)).has_value());
    scheduler->set_leases_max(key_of(stranger), 1);
    (void)decide(0);
    const auto [of, attempt] = *attempts.begin();
    const auto& [task, by] = of;
    EXPECT_TRUE(scheduler->result(
        {.task = task, .worker = by, .attempt = attempt, .gpu_seconds = 0.01}, at(1)));
    scheduler->counted(task, by);
    scheduler->bar(task, by, from);
    scheduler->want_replicas(task, 2);
    return !decide(2).empty();
  };
  EXPECT_TRUE(gets_more(Barred::task));
  EXPECT_FALSE(gets_more(Barred::job));
}

TEST_F(SafeguardsTest, ATaskThatAStrangerLostGoesToATrustedWorkerNext) {
  const auto strangers = [&](bool rule) {
    start({.lost_goes_to_trusted = rule, .newcomer_share_max = 1, .tries_are_spent = false});
    join(1);
    scheduler->set_leases_max(key_of(1), 0);
    for (std::uint64_t i = 0; i < 10; ++i) join(stranger + i, Standing::newcomer);
    EXPECT_TRUE(scheduler->add_job(known_job(1, 1, 1, 0.001), at(0)).has_value());
    std::size_t leases = 0;
    for (int round = 0; round < 5; ++round) {
      leases += decide(round).size();
      (void)fail_all(round + 0.5, ErrorCode::internal);
    }
    return leases;
  };
  EXPECT_EQ(strangers(true), 1U);
  EXPECT_GT(strangers(false), 2U);
}

TEST_F(SafeguardsTest, AStrangersSpeedIsWhatItsAcceptedWorkHasShown) {
  start();
  join(1);
  join(stranger, Standing::newcomer, 500);
  ASSERT_TRUE(scheduler->add_job(known_job(1, 400, 1, 0.001), at(0)).has_value());
  const double before = scheduler->views().load(key_of(stranger))->rate;
  EXPECT_LE(before, 1) << "not what it claims";
  double time = 0;
  for (int round = 0; round < 6; ++round) {
    (void)decide(time);
    time += 0.001;  // This worker is ten times as fast as the others.
    for (const auto& [of, attempt] : std::exchange(attempts, {})) {
      if (of.second != key_of(stranger)) continue;
      (void)scheduler->result(
          {.task = of.first, .worker = of.second, .attempt = attempt, .gpu_seconds = 1e-9},
          at(time));
      scheduler->counted(of.first, of.second);
      if (round < 3) {
        EXPECT_EQ(scheduler->views().load(key_of(stranger))->rate, before)
            << "nothing is accepted yet";
        continue;
      }
      const std::array<PublicKey, 1> right{of.second};
      scheduler->settled(of.first, right);
    }
  }
  EXPECT_GT(scheduler->views().load(key_of(stranger))->rate, before);
}

}  // namespace
}  // namespace weft::scheduler
