// Tests of workers that work alone because of their reputation and stake. Their results are audited
// without their knowledge, and a wrong result costs the stake. The job is correct anyway, and each
// correct result is paid once. In simulated time, with the real sessions, checks and ledger.
#include "decisions/jobs/audits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/coordinator/test_network.h"
#include "common/base/format.h"
#include "decisions/jobs/core_views.h"
#include "decisions/jobs/stakes.h"

namespace weft::coordinator {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// Settings with which every worker is established after a few tasks, all earnings become stake, and
// a lead of three votes decides as a jury.
jobs::CoreSettings audited_settings() {
  jobs::CoreSettings settings = TestNetwork::by_heads();
  settings.referee.reputation.half = 1e-9;
  settings.referee.reputation.probation = 1;
  settings.referee.checks.replica_floor = 0;
  settings.referee.checks.trap_floor = 0;
  settings.referee.checks.error = 0.1;
  settings.stake_permille = 1000;
  settings.stake_target = 1'000'000'000;
  return settings;
}

class AuditsTest : public testing::Test {
 protected:
  static constexpr std::uint32_t tasks = 8;

  store::Job run(const std::string& manifest) {
    const auto submitted = network.submit(client, manifest, {++nonce_});
    EXPECT_TRUE(submitted.has_value()) << submitted.error().message;
    return network.finish(JobId::parse(submitted->id).value());
  }
  // Lets every worker earn reputation and a stake.
  void warm_up() {
    for (auto& key : keys) workers.push_back(&network.join(key));
    ASSERT_EQ(run(jobs::count_manifest(60, 2)).state, store::JobState::done);
    for (auto* worker : workers) {
      EXPECT_GT(stake(worker->key), 0);
      worker->verdicts.clear();
      worker->leases.clear();
    }
  }
  // A result that is wrong in every part, so that an audit of any part finds it.
  static ByteVector garbage(const protocol::LeasedTask& task) {
    ByteVector bytes;
    for (std::uint32_t i = task.first; i < task.first + task.count; ++i)
      append_le(bytes, i + 1'000'000);
    return bytes;
  }
  MicroCredits stake(const crypto::KeyPair& key) const {
    return network.balance(ledger::Account::stake(OwnerId::of_first(key.public_key())));
  }
  MicroCredits owned(const crypto::KeyPair& key) const {
    return stake(key) +
           network.balance(ledger::Account::owner(OwnerId::of_first(key.public_key())));
  }
  void expect_right(const store::Job& job) {
    ASSERT_EQ(job.state, store::JobState::done) << job.reason;
    ByteVector expected;
    for (std::uint32_t i = 0; i < job.tasks * 4; ++i) append_le(expected, i);
    EXPECT_EQ(network.output(job), expected);
    EXPECT_EQ(network.balance(ledger::Account::escrow(job.id)), 0);
    EXPECT_TRUE(network.store().audit().has_value());
    EXPECT_THAT(network.store().evidence(0, store::evidence_max).value(), IsEmpty());
  }
  // The number of orders to open chunks that workers got.
  std::size_t opened() const {
    std::size_t count = 0;
    for (const auto* worker : workers) count += worker->opens.size();
    return count;
  }

  explicit AuditsTest(const jobs::CoreSettings& settings = audited_settings())
      : network(settings) {}

  TestNetwork network;
  crypto::KeyPair client = crypto::KeyPair::generate().value();
  std::array<crypto::KeyPair, 6> keys{
      crypto::KeyPair::generate().value(), crypto::KeyPair::generate().value(),
      crypto::KeyPair::generate().value(), crypto::KeyPair::generate().value(),
      crypto::KeyPair::generate().value(), crypto::KeyPair::generate().value()};
  std::vector<TestWorker*> workers;
  std::uint8_t nonce_ = 0;
};

TEST_F(AuditsTest, WorkersWithReputationAndAStakeWorkAloneAndAuditsConfirmThem) {
  warm_up();

  const auto job = run(jobs::count_manifest(tasks, 2, "", 100, 1.0));

  expect_right(job);
  // The canary's task is replicated, because its price is not known when it is leased.
  EXPECT_EQ(network.store().replicas(job.id)->size(), tasks + 1);
  EXPECT_EQ(opened(), tasks - 1) << "each of the others had to open its commitment";
}

// A stake on the chain does not count here, because the coordinator cannot slash it for a wrong
// result.
class ChainStakesTest : public AuditsTest {
 protected:
  static jobs::CoreSettings almost_without_stakes() {
    jobs::CoreSettings settings = audited_settings();
    settings.stake_target = 1;  // A small stake, so that replicas still decide results.
    return settings;
  }
  ChainStakesTest() : AuditsTest(almost_without_stakes()) {}

  void stake_on_chain(MicroCredits each) {
    jobs::ChainReading reading{.slot = 1, .stakes = {}};
    for (const auto& key : keys)
      reading.stakes.push_back({.owner = OwnerId::of_first(key.public_key()), .amount = each});
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.stakes().read_chain(reading, now,
                               [](const auto& taken) { EXPECT_TRUE(taken.has_value()); });
    });
    network.run();
  }
};

TEST_F(ChainStakesTest, NoWorkerWorksAloneForAStakeThatTheLedgerCannotSlash) {
  warm_up();
  stake_on_chain(1'000'000'000'000);

  const auto job = run(jobs::count_manifest(tasks, 2, "", 100, 1.0));

  expect_right(job);
  EXPECT_EQ(network.store().replicas(job.id)->size(), 2 * tasks);
  EXPECT_EQ(opened(), 0U);
}

TEST_F(AuditsTest, AnAuditRunsAPartOfTheTaskElsewhereAndIsPaidInProportion) {
  warm_up();

  const auto job = run(jobs::count_manifest(tasks, 2, "", 100, 1.0));

  const MicroCredits share = job.price / tasks / 2;
  std::size_t audits = 0;
  for (const auto* worker : workers) {
    for (const auto& lease : worker->leases) {
      for (const auto& task : lease.tasks)
        audits += task.count == 1 ? 1 : 0;  // An audit has one of four workgroups.
    }
    for (const auto& verdict : worker->verdicts) {
      EXPECT_TRUE(verdict.accepted) << verdict.reason;
      EXPECT_TRUE(verdict.paid == share || verdict.paid == share / 4) << verdict.paid;
    }
  }
  EXPECT_EQ(audits, tasks - 1);
}

TEST_F(AuditsTest, ACheatThatWasBelievedLosesItsStakeAndIsNotPaid) {
  warm_up();
  TestWorker& cheat = *workers[2];
  cheat.behaviour.compute = garbage;
  const auto before = stake(cheat.key);
  const auto owned_before = owned(cheat.key);

  store::Job job;
  for (int i = 0; i < 6 && stake(cheat.key) == before; ++i) {
    job = run(jobs::count_manifest(tasks, 2, "", 100, 1.0));
    expect_right(job);
  }

  EXPECT_LT(stake(cheat.key), before) << "slashed";
  EXPECT_LT(owned(cheat.key), owned_before);
  for (const auto& verdict : cheat.verdicts) EXPECT_EQ(verdict.paid, 0);
  const std::size_t leases = cheat.leases.size();
  expect_right(run(jobs::count_manifest(tasks, 2, "", 100, 1.0)));
  EXPECT_THAT(cheat.leases, SizeIs(leases)) << "suspended: it is leased nothing more";
}

TEST_F(AuditsTest, EveryHonestWorkerIsPaidOnceForEachTask) {
  warm_up();
  workers[2]->behaviour.compute = garbage;

  expect_right(run(jobs::count_manifest(tasks, 2, "", 100, 1.0)));

  for (const auto* worker : workers) {
    // The tasks that were paid: the index, and true for an audit of a part of the task.
    std::set<std::pair<std::uint32_t, bool>> paid;
    for (const auto& verdict : worker->verdicts) {
      if (!verdict.accepted || verdict.paid == 0) continue;
      EXPECT_TRUE(paid.emplace(verdict.task.index, verdict.attempt == jobs::extra_attempt).second)
          << "task " << verdict.task.index;
    }
  }
}

TEST_F(AuditsTest, WhoDoesNotOpenItsCommitmentIsNotBelievedAlone) {
  warm_up();
  for (auto* worker : workers) worker->behaviour.opens_nothing = true;

  const auto job = run(jobs::count_manifest(2, 2, "", 100, 1.0));

  expect_right(job);
  EXPECT_EQ(network.store().replicas(job.id)->size(), 4U) << "a second replica instead";
}

TEST_F(AuditsTest, AnOpeningThatDoesNotLeadToTheSignedRootIsNone) {
  warm_up();
  for (auto* worker : workers) worker->behaviour.opens_wrong = true;

  const auto job = run(jobs::count_manifest(2, 2, "", 100, 1.0));

  expect_right(job);
  EXPECT_EQ(network.store().replicas(job.id)->size(), 4U);
}

TEST_F(AuditsTest, StandingsAndStakesOutliveTheProcess) {
  warm_up();
  workers.clear();
  network.restart();
  for (auto& key : keys) workers.push_back(&network.join(key));

  const auto job = run(jobs::count_manifest(tasks, 2, "", 100, 1.0));

  expect_right(job);
  EXPECT_EQ(network.store().replicas(job.id)->size(), tasks + 1);
}

TEST_F(AuditsTest, AnAuditThatWasUnderWayGoesOnAfterARestart) {
  warm_up();
  for (auto* worker : workers) worker->behaviour.opens_nothing = true;
  const auto submitted =
      network.submit(client, jobs::count_manifest(2, 2, "", 100, 1.0), {++nonce_});
  ASSERT_TRUE(submitted.has_value());
  ASSERT_GT(opened(), 0U);

  workers.clear();
  network.restart();
  for (auto& key : keys) workers.push_back(&network.join(key));

  expect_right(network.finish(JobId::parse(submitted->id).value()));
}

TEST_F(AuditsTest, AnAuditorThatGoesIsReplaced) {
  warm_up();
  for (auto* worker : workers) worker->behaviour.opens_nothing = true;
  const auto submitted =
      network.submit(client, jobs::count_manifest(2, 2, "", 100, 1.0), {++nonce_});
  const auto id = JobId::parse(submitted->id).value();
  for (auto* worker : workers) {
    for (const auto& lease : worker->leases) {
      if (lease.job == id && lease.tasks.front().count == 1) worker->line->on_closed();
    }
  }
  network.run();
  for (auto* worker : workers) worker->behaviour.opens_nothing = false;

  expect_right(network.finish(id));
}

TEST_F(AuditsTest, AJobOfSingleReplicasIsAuditedWhereItAsksForIt) {
  warm_up();

  const auto audited = run(jobs::count_manifest(4, 1, "", 100, 1.0));
  const auto asked = opened();
  const auto plain = run(jobs::count_manifest(4, 1));

  expect_right(audited);
  expect_right(plain);
  EXPECT_EQ(asked, 4U);
  EXPECT_EQ(opened(), asked) << "and only there";
}

class TrapsTest : public AuditsTest {
 protected:
  static jobs::CoreSettings with_traps() {
    auto settings = audited_settings();
    settings.referee.checks.trap_floor = 1;
    return settings;
  }
  TrapsTest() : AuditsTest(with_traps()) {}
  std::uint64_t metric(std::string_view name) {
    std::string text;
    network.core().views().metrics(
        [&](const Result<std::string>& answer) { text = answer.value(); });
    network.run();
    const auto at = text.find(weft::format("\n{} ", name));
    return at == std::string::npos ? 0 : std::stoull(text.substr(at + name.size() + 2));
  }
};

TEST_F(TrapsTest, WhatAJuryDecidedIsHandedOutAgainAndWhoAnswersRightIsNotHarmed) {
  warm_up();
  workers[2]->behaviour.compute = garbage;
  std::map<const TestWorker*, MicroCredits> before;
  for (const auto* worker : workers) before[worker] = stake(worker->key);

  expect_right(run(jobs::count_manifest(100, 2, "", 100, 1.0)));

  EXPECT_GT(metric("weft_convictions_total"), 0U);
  EXPECT_GT(metric("weft_traps_total"), 0U);
  for (const auto* worker : workers) {
    if (worker != workers[2]) {
      EXPECT_GE(stake(worker->key), before[worker]);
    }
  }
}

TEST_F(AuditsTest, WithoutAStakeNoWorkerWorksAlone) {
  TestNetwork poor;
  for (auto& key : keys) poor.join(key);
  ASSERT_TRUE(poor.submit(client, jobs::count_manifest(60, 2), {1}).has_value());
  poor.run();

  const auto submitted = poor.submit(client, jobs::count_manifest(tasks, 2), {2});
  const auto job = poor.finish(JobId::parse(submitted->id).value());

  EXPECT_EQ(poor.store().replicas(job.id)->size(), tasks * 2);
}

}  // namespace
}  // namespace weft::coordinator
