// Tests that a thousand wallets of one address prefix get the share of one network. Workers with
// standing, and workers on this machine or in a private network, are not limited.
#include "decisions/scheduler/prefixes.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

TEST(PrefixCounts, APrefixWithoutWorkersIsForgotten) {
  PrefixCounts counts;
  counts.add("192.0.2.0/24", 1);
  counts.add("192.0.2.0/24", 1);
  counts.add("198.51.100.0/24", 1);
  counts.add("", 1);
  EXPECT_EQ(counts.prefixes(), 2U);
  EXPECT_EQ(counts.of("192.0.2.0/24"), 2);
  counts.add("192.0.2.0/24", -2);
  EXPECT_EQ(counts.prefixes(), 1U);
  EXPECT_EQ(counts.of("192.0.2.0/24"), 0);
}

TEST(PrefixCounts, EachPrefixHasTheSameShareAndOneLeaseAtLeast) {
  EXPECT_EQ(prefix_share(100, 1), 100);
  EXPECT_EQ(prefix_share(100, 4), 25);
  EXPECT_EQ(prefix_share(3, 1000), 1);
  EXPECT_EQ(prefix_share(0.5, 0), 1);
}

// The leases of a job's first decision, by prefix. 200 strangers come from one prefix, and one
// stranger from each of two others.
std::map<std::string, int> first_leases(const Safeguards& rules, const Worker& also) {
  Settings settings;
  settings.safeguards = rules;
  Scheduler scheduler(settings);
  std::map<PublicKey, std::string> from;
  const auto join = [&](const Worker& worker) {
    from[worker.key] = worker.standing == Standing::newcomer ? worker.prefix : "known";
    ASSERT_TRUE(scheduler.add_worker(worker, at(0)).has_value());
  };
  for (std::uint64_t i = 0; i < 202; ++i) {
    Worker worker = native_worker(100 + i);
    worker.slots = 1;
    worker.standing = Standing::newcomer;
    worker.prefix = i < 200 ? "192.0.2.0/24" : i == 200 ? "198.51.100.0/24" : "203.0.113.0/24";
    join(worker);
  }
  join(also);
  Job job = known_job(1, 30, 1, 0.001);
  EXPECT_TRUE(scheduler.add_job(job, at(0)).has_value());
  std::map<std::string, int> leases;
  for (const Lease& lease : all<Lease>(scheduler.decide(at(0))))
    leases[from[lease.worker]] += static_cast<int>(lease.tasks.size());
  return leases;
}

TEST(PrefixShares, AThousandWalletsBehindOnePrefixHoldWhatOneNetworkHolds) {
  Worker own = native_worker(1);  // The worker is in a private network: its prefix is empty.
  own.standing = Standing::newcomer;
  own.slots = 1;

  auto leases = first_leases({}, own);

  EXPECT_EQ(leases["192.0.2.0/24"], 10) << "a third of 30";
  EXPECT_EQ(leases["198.51.100.0/24"], 1);
  EXPECT_EQ(leases["203.0.113.0/24"], 1);
  EXPECT_EQ(leases[""], 1) << "never kept from anything";
  EXPECT_GT(first_leases({.prefixes_share = false}, own)["192.0.2.0/24"], 20)
      << "without the rule they hold nearly all of it";
}

TEST(PrefixShares, AKnownWorkerOfTheSamePrefixIsNotKeptFromAnything) {
  Worker known = native_worker(1);
  known.prefix = "192.0.2.0/24";
  known.standing = Standing::established;
  known.slots = 30;

  auto leases = first_leases({}, known);

  EXPECT_GT(leases["known"], 0);
  EXPECT_LE(leases["192.0.2.0/24"], 1) << "newcomers have a tenth of 30 in all, a third of it each";
}

}  // namespace
}  // namespace weft::scheduler
