// Tests that clients get work by their weights, in whatever order they came, and that old usage
// decays. The second half tests this through the scheduler.
#include "decisions/scheduler/fair_share.h"

#include <gtest/gtest.h>

#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const PublicKey alice = key_of(1'000'001);
const PublicKey bob = key_of(1'000'002);

TEST(FairShares, CountsUsageAgainstTheWholeNetworkAndTheWeight) {
  FairShares shares;
  shares.set_capacity(10);
  shares.add_job(alice, 1);
  shares.add_job(bob, 3);

  shares.charge(alice, 100, at(0));
  shares.charge(bob, 100, at(0));

  EXPECT_EQ(shares.lead(alice, at(0)),
            seconds(40));  // 10 s of the whole network, of which alice has a right to a quarter.
  // The lead is 13.3 s, rounded down to whole steps.
  EXPECT_EQ(shares.lead(bob, at(0)), seconds(13));
}

TEST(FairShares, AWeightThatIsSetLaterCountsAtOnce) {
  FairShares shares;
  shares.set_capacity(10);
  shares.add_job(alice, 1);
  shares.add_job(bob, 1);
  shares.charge(alice, 100, at(0));
  EXPECT_EQ(shares.lead(alice, at(0)), seconds(20));

  shares.set_weight(bob, 3);
  EXPECT_EQ(shares.lead(alice, at(0)), seconds(40));
  shares.set_weight(alice, 3);
  EXPECT_EQ(shares.lead(alice, at(0)), seconds(20));
  shares.set_weight(key_of(7), 100);
  EXPECT_EQ(shares.lead(alice, at(0)), seconds(20)) << "who has no jobs takes no share";
  shares.remove_job(bob);
  shares.set_weight(bob, 1000);
  shares.add_job(bob, 1);
  EXPECT_EQ(shares.lead(alice, at(0)), seconds(13)) << "with a job it is what the job says";
}

TEST(FairShares, ForgetsHalfInAHalfLifeAndNeverCountsMoreThanTheBound) {
  FairShares shares;
  shares.set_capacity(1);
  shares.add_job(alice, 1);
  shares.add_job(bob, 1);
  shares.charge(alice, 1000, at(0));
  EXPECT_EQ(shares.lead(alice, at(3600)), seconds(1000));

  shares.charge(alice, 1e9, at(3600));
  EXPECT_EQ(shares.lead(alice, at(3600)), hours(4));
}

TEST(FairShares, LeavesAClientAloneThatIsAlone) {
  FairShares shares;
  shares.set_capacity(1);
  shares.add_job(alice, 1);
  shares.charge(alice, 1000, at(0));
  EXPECT_EQ(shares.lead(alice, at(0)), Duration{});

  shares.add_job(bob, 1);
  EXPECT_EQ(shares.lead(alice, at(0)), seconds(2000));
  EXPECT_EQ(shares.lead(bob, at(0)), Duration{});
  shares.remove_job(bob);
  EXPECT_EQ(shares.lead(alice, at(0)), Duration{});
}

TEST(FairShares, TakesBackWhatWasNotDoneAndForgetsStrangers) {
  FairShares shares;
  shares.charge(alice, 50, at(0));
  shares.charge(alice, -80, at(0));
  EXPECT_EQ(shares.usage(alice, at(0)), 0);
  shares.charge(bob, 50, at(0));
  shares.forget(at(0));
  EXPECT_EQ(shares.usage(bob, at(0)), 50);
  shares.forget(at(8 * 3600));
  EXPECT_EQ(shares.usage(bob, at(8 * 3600)), 0);
}

Job job_of(std::uint64_t number, const PublicKey& client, std::uint32_t tasks, double share = 1) {
  Job job = known_job(number, tasks, 1,
                      0.1);  // A task takes one second on a worker of the reference rate.
  job.client = client;
  job.share = share;
  return job;
}

// Two workers each run one task of one second at a time, for `steps` seconds. Returns the number of
// tasks that were run for each client.
std::map<PublicKey, int> served(const std::vector<std::pair<double, Job>>& arrivals, int steps) {
  Scheduler scheduler;
  std::map<JobId, PublicKey> owners;
  for (std::uint64_t number : {1, 2}) {
    Worker worker = native_worker(number);
    worker.slots = 1;
    EXPECT_TRUE(scheduler.add_worker(worker, at(0)).has_value());
  }
  std::map<PublicKey, int> done;
  std::vector<TaskResult> running;
  for (int step = 0; step < steps; ++step) {
    for (const TaskResult& result : running) {
      EXPECT_TRUE(scheduler.result(result, at(step)).has_value());
      scheduler.counted(result.task, result.worker);
      scheduler.settled(result.task);
      ++done[owners.at(result.task.job)];
    }
    running.clear();
    for (const auto& [time, job] : arrivals) {
      if (time != step) continue;
      owners[job.id] = job.client;
      EXPECT_TRUE(scheduler.add_job(job, at(step)).has_value());
    }
    for (const Lease& lease : all<Lease>(scheduler.decide(at(step)))) {
      for (const auto& task : lease.tasks) {
        running.push_back({.task = {lease.job, task.index},
                           .worker = lease.worker,
                           .attempt = task.attempt,
                           .gpu_seconds = 1});
      }
    }
  }
  return done;
}

TEST(FairShare, GivesTwoClientsHalfEachThoughOneQueuedFirst) {
  const auto done = served({{0, job_of(1, alice, 5000)}, {0, job_of(2, bob, 5000)}}, 201);

  EXPECT_NEAR(done.at(alice), 200, 10);
  EXPECT_NEAR(done.at(bob), 200, 10);
}

TEST(FairShare, CatchesUpALateClientAndThenSharesEvenly) {
  const auto done = served({{0, job_of(1, alice, 5000)}, {100, job_of(2, bob, 5000)}}, 301);

  EXPECT_NEAR(done.at(bob), done.at(alice), 120)
      << "a hundred seconds of the queue were alice's alone";
  EXPECT_GT(done.at(bob), 200);
}

TEST(FairShare, FollowsWeights) {
  const auto done = served({{0, job_of(1, alice, 5000, 1)}, {0, job_of(2, bob, 5000, 3)}}, 401);

  EXPECT_NEAR(static_cast<double>(done.at(bob)) / done.at(alice), 3, 0.3);
}

TEST(FairShare, DoesNotDependOnHowManyJobsTheWorkIsCutInto) {
  std::vector<std::pair<double, Job>> arrivals = {{0, job_of(1, alice, 5000)}};
  for (std::uint64_t i = 0; i < 500; ++i) arrivals.emplace_back(0, job_of(100 + i, bob, 10));

  const auto done = served(arrivals, 201);

  // A large job has a better score than a small one (score.h). The difference is worth a lead of
  // about fifty seconds.
  EXPECT_NEAR(done.at(alice) - done.at(bob), 50, 20);
}

TEST(FairShare, SharesOutWhatIsGivenInOneDecision) {
  Scheduler scheduler;
  for (std::uint64_t number = 1; number <= 20; ++number)
    ASSERT_TRUE(scheduler.add_worker(native_worker(number), at(0)).has_value());
  Job first = job_of(1, alice, 20);
  Job second = job_of(2, bob, 20);
  for (Job* job : {&first, &second})
    job->estimate = estimate({.workgroups = job->workgroups, .tasks = 20, .replicas = 1}, 2.0, {});
  ASSERT_TRUE(scheduler.add_job(first, at(0)).has_value());
  ASSERT_TRUE(scheduler.add_job(second, at(0)).has_value());

  std::map<JobId, std::size_t> given;
  for (const Lease& lease : all<Lease>(scheduler.decide(at(0))))
    given[lease.job] += lease.tasks.size();

  EXPECT_EQ(given[first.id] + given[second.id], 20U);
  EXPECT_NEAR(static_cast<double>(given[first.id]), 10, 1);
}

}  // namespace
}  // namespace weft::scheduler
