// Tests which workers are believed alone, how their results are checked, and the cost of a wrong
// result. The settings make draws certain, because the tests are about the consequences of draws.
#include "decisions/trust/referee.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace weft::trust {
namespace {

PublicKey key(std::uint8_t number) {
  PublicKey key;
  key.bytes[0] = number;
  return key;
}
Hash root(std::uint8_t number) {
  Hash hash;
  hash.bytes[0] = number;
  return hash;
}
constexpr UnixMillis now = 1'000'000;
constexpr MicroCredits value = 1000;
constexpr MicroCredits plenty = 1'000'000'000;

// Settings without traps, and without replicas unless `replica` gives a rate. `audit` is the rate
// of audits of single parts.
RefereeSettings settings(double audit, double replica = 0) {
  RefereeSettings settings;
  settings.checks = {.replica_floor = replica,
                     .audit_work = audit,
                     .audit_parts_max = 1,
                     .trap_floor = 0,
                     .collusion = 0.3,
                     .error = 1e-4};
  settings.reputation.half = 1e-9;  // Full reputation from the first confirmation on.
  // In these tests all jurors count alike; levels_test.cpp tests levels of trust.
  settings.defences.newcomers_decide_nothing = false;
  settings.defences.only_roots_convict = false;
  settings.defences.standing_under_roots = false;
  return settings;
}

class RefereeTest : public testing::Test {
 protected:
  void start(const RefereeSettings& chosen, std::uint32_t tasks, double audit = 0) {
    referee.emplace(chosen, Secret{});
    referee->add_job(job, {.replicas = 2, .audit = audit, .parts = 1, .agree = {}}, tasks);
    establish(1);
  }
  void establish(std::uint8_t who) {
    referee->standing().book().restore(
        key(who), {.verified = 1000, .updated = now, .wrong = 0, .suspended_until = 0});
  }
  TaskId task(std::uint32_t index) const { return {.job = job, .index = index}; }
  std::vector<Ruling> lease(std::uint32_t index, std::uint8_t who, MicroCredits stake = plenty) {
    return referee->leased(task(index), key(who), value, stake, now);
  }
  std::vector<Ruling> deliver(std::uint32_t index, std::uint8_t who, std::uint8_t what) {
    auto out = referee->add_result(
        {.task = task(index), .worker = key(who), .attempt = 1, .root = root(what)}, now);
    const std::vector<Claim> claims{{.task = task(index), .attempt = 1, .root = root(what)}};
    std::ranges::move(referee->add_receipt(key(who), claims, now), std::back_inserter(out));
    return out;
  }
  // Starts a new referee and restores stored votes, in the order of arrival.
  std::vector<Ruling> restart(const RefereeSettings& chosen, std::uint32_t index,
                              const std::vector<std::pair<std::uint8_t, std::uint8_t>>& votes) {
    referee.emplace(chosen, Secret{});
    referee->add_job(job, {.replicas = 2, .audit = 0, .parts = 1, .agree = {}}, 5);
    establish(1);
    for (const auto& [who, what] : votes)
      referee->votes().restore_counted(
          {.task = task(index), .worker = key(who), .attempt = 1, .root = root(what)});
    return referee->restored(job, value, [](const PublicKey&) { return plenty; }, {}, now).value();
  }
  template <class T>
  static std::vector<T> all(const std::vector<Ruling>& rulings) {
    std::vector<T> found;
    for (const Ruling& ruling : rulings) {
      if (const T* one = std::get_if<T>(&ruling)) found.push_back(*one);
    }
    return found;
  }

  const JobId job = [] {
    JobId id;
    id.bytes[0] = 9;
    return id;
  }();
  std::optional<Referee> referee;
};

TEST_F(RefereeTest, AWalletWithoutReputationOrStakeGetsTheJobsQuorum) {
  start(settings(0), 3);

  const auto stranger = lease(0, 7);
  const auto poor = lease(1, 1, 10);
  const auto known = lease(2, 1);

  ASSERT_EQ(all<NeedReplicas>(stranger).size(), 1U);
  EXPECT_EQ(all<NeedReplicas>(stranger)[0].replicas, 2U);
  EXPECT_EQ(all<NeedReplicas>(poor).size(), 1U) << "it has too little to lose";
  EXPECT_TRUE(known.empty());
}

TEST_F(RefereeTest, WhoIsEstablishedDoesTheLastTasksOfAJobAlone) {
  start(settings(0), 2);
  (void)lease(0, 1);
  EXPECT_GE(referee->stakes().locked(key(1)), value);
  const auto first = deliver(0, 1, 5);
  EXPECT_EQ(all<Counted>(first).size(), 1U);
  EXPECT_TRUE(all<Accepted>(first).empty()) << "held back while the job has other tasks";
  EXPECT_EQ(referee->stakes().locked(key(1)), 0) << "nothing more is drawn for it";

  (void)lease(1, 1);
  const auto last = deliver(1, 1, 6);

  const auto accepted = all<Accepted>(last);
  ASSERT_EQ(accepted.size(), 2U);
  for (const auto& each : accepted) EXPECT_EQ(each.agreeing, std::vector{key(1)});
}

TEST_F(RefereeTest, ResultsAreReleasedWhenEnoughLaterOnesAreHeld) {
  auto chosen = settings(0);
  chosen.hold_max = 3;
  start(chosen, 100);
  std::size_t accepted = 0;
  for (std::uint32_t i = 0; i < 10; ++i) {
    (void)lease(i, 1);
    accepted += all<Accepted>(deliver(i, 1, 5)).size();
  }
  EXPECT_EQ(accepted, 7U);
}

TEST_F(RefereeTest, AnAuditThatAgreesAccepts) {
  start(settings(1), 5);
  (void)lease(0, 1);

  const auto wanted = all<AuditWanted>(deliver(0, 1, 5));
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_EQ(wanted[0].suspect, key(1));
  EXPECT_EQ(wanted[0].root, root(5));
  EXPECT_GT(referee->stakes().locked(key(1)), 0);
  const auto after = referee->audited(task(0), key(2), AuditOutcome::agrees, now);

  EXPECT_EQ(all<Accepted>(after).size(), 1U);
  EXPECT_EQ(referee->stakes().locked(key(1)), 0);
  EXPECT_FALSE(referee->audit_wanted(task(0)));
  EXPECT_TRUE(referee->audited(task(0), key(2), AuditOutcome::differs, now).empty()) << "too late";
}

TEST_F(RefereeTest, AnAuditThatDiffersGoesToAJuryAndTheCheatIsConvicted) {
  start(settings(1), 5);
  (void)lease(0, 1);
  (void)deliver(0, 1, 66);

  const auto disputed = referee->audited(task(0), key(2), AuditOutcome::differs, now);
  ASSERT_EQ(all<NeedReplicas>(disputed).size(), 1U);
  std::vector<Ruling> last;
  for (std::uint8_t juror = 10; juror < 30 && all<Accepted>(last).empty(); ++juror)
    last = deliver(0, juror, 5);

  const auto accepted = all<Accepted>(last);
  ASSERT_EQ(accepted.size(), 1U);
  EXPECT_EQ(accepted[0].root, root(5));
  EXPECT_EQ(accepted[0].agreeing.size(), 2U) << "the job pays two";
  EXPECT_EQ(accepted[0].jurors.size(), 10U) << "a lead of 11 over the cheat's one vote";
  const auto convicted = all<Convicted>(last);
  ASSERT_EQ(convicted.size(), 1U);
  EXPECT_EQ(convicted[0].worker, key(1));
  EXPECT_GE(convicted[0].penalty, value);
  EXPECT_FALSE(referee->book().established(key(1), now));
  EXPECT_TRUE(referee->book().suspended(key(1), now));
}

TEST_F(RefereeTest, AnAuditorThatLiesIsConvictedInstead) {
  start(settings(1), 5);
  establish(2);
  (void)lease(0, 1);
  (void)deliver(0, 1, 5);
  (void)referee->audited(task(0), key(2), AuditOutcome::differs, now);
  std::vector<Ruling> last;
  for (std::uint8_t juror = 10; juror < 30 && all<Accepted>(last).empty(); ++juror)
    last = deliver(0, juror, 5);

  ASSERT_EQ(all<Convicted>(last).size(), 1U);
  EXPECT_EQ(all<Convicted>(last)[0].worker, key(2));
  EXPECT_TRUE(referee->book().established(key(1), now));
}

TEST_F(RefereeTest, AConvictionSendsEverythingThatWasHeldBackToAnotherWorker) {
  start(settings(0), 10);
  for (std::uint32_t i = 0; i < 4; ++i) {
    (void)lease(i, 1);
    (void)deliver(i, 1, 66);
  }

  const auto caught = referee->trap_answered({.task = task(9), .root = root(1), .value = value},
                                             key(1), false, now);

  EXPECT_EQ(all<Convicted>(caught).size(), 1U);
  const auto again = all<NeedReplicas>(caught);
  ASSERT_EQ(again.size(), 4U);
  for (const auto& each : again) EXPECT_EQ(each.replicas, 2U);
  const auto differing = deliver(0, 3, 5);
  EXPECT_TRUE(all<Accepted>(differing).empty());
  EXPECT_EQ(all<NeedReplicas>(differing).size(), 1U) << "a jury";
  EXPECT_EQ(all<Accepted>(deliver(1, 3, 66)).size(), 1U)
      << "the second of the same kind confirms it";
}

TEST_F(RefereeTest, AnAuditThatNoWorkerCanDoBecomesASecondReplica) {
  start(settings(1), 5);
  (void)lease(0, 1);
  (void)deliver(0, 1, 5);

  const auto asked = all<NeedReplicas>(referee->audited(task(0), {}, AuditOutcome::failed, now));

  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].replicas, 2U);
  EXPECT_EQ(all<Accepted>(deliver(0, 3, 5)).size(), 1U);
}

TEST_F(RefereeTest, AReplicaThatWasDrawnIsWantedAfterTheResultIsThere) {
  start(settings(0, 1), 5);

  EXPECT_TRUE(lease(0, 1).empty()) << "the worker sees nothing of the draw";
  const auto asked = all<NeedReplicas>(deliver(0, 1, 5));

  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].replicas, 2U);
}

TEST_F(RefereeTest, ALostLeaseGivesTheStakeBackAndTheTaskToAnyone) {
  start(settings(0), 5);
  (void)lease(0, 1);

  referee->lost(task(0), key(1));

  EXPECT_EQ(referee->stakes().locked(key(1)), 0);
  EXPECT_EQ(all<NeedReplicas>(lease(0, 7)).size(), 1U);
}

TEST_F(RefereeTest, TwoAgainstOneIsNoLeadThatConvicts) {
  start(settings(1), 5);
  (void)lease(0, 1);
  (void)deliver(0, 1, 66);
  (void)referee->audited(task(0), key(2), AuditOutcome::differs, now);
  (void)deliver(0, 2, 5);
  (void)deliver(0, 3, 5);

  const auto ended = referee->give_up(task(0), now);

  EXPECT_EQ(all<JobFailed>(ended).size(), 1U);
  EXPECT_TRUE(all<Convicted>(ended).empty());
}

TEST_F(RefereeTest, ThreeAgainstOneDecideWhereNoWorkerIsLeft) {
  start(settings(1), 5);
  (void)lease(0, 1);
  (void)deliver(0, 1, 66);
  (void)referee->audited(task(0), key(2), AuditOutcome::differs, now);
  for (std::uint8_t juror = 2; juror < 5; ++juror) (void)deliver(0, juror, 5);

  const auto ended = referee->give_up(task(0), now);

  ASSERT_EQ(all<Accepted>(ended).size(), 1U);
  EXPECT_EQ(all<Accepted>(ended)[0].root, root(5));
  ASSERT_EQ(all<Convicted>(ended).size(), 1U);
  EXPECT_EQ(all<Convicted>(ended)[0].worker, key(1));
}

TEST_F(RefereeTest, AJobThatAsksForAuditsOfItsSingleReplicasGetsThem) {
  referee.emplace(settings(0), Secret{});
  referee->add_job(job, {.replicas = 1, .audit = 1, .parts = 1, .agree = {}}, 2);
  (void)lease(0, 7, 0);

  EXPECT_EQ(all<AuditWanted>(deliver(0, 7, 5)).size(), 1U);
}

// If only the job's own quorum decided, two accomplices would win the task, because the smaller
// root of two quorums is taken.
TEST_F(RefereeTest, AJuryGoesOnAfterARestartAndWhoLosesStillPaysForIt) {
  const auto restored = restart(settings(1), 0, {{1, 3}, {2, 5}, {3, 5}, {4, 3}, {6, 5}});

  EXPECT_TRUE(all<Accepted>(restored).empty());
  ASSERT_EQ(all<NeedReplicas>(restored).size(), 1U);
  EXPECT_GT(all<NeedReplicas>(restored)[0].replicas, 5U);
  EXPECT_GT(referee->stakes().locked(key(1)), 0) << "it cannot be taken out meanwhile";

  std::vector<Ruling> last;
  for (std::uint8_t juror = 10; juror < 20; ++juror) last = deliver(0, juror, 5);
  ASSERT_EQ(all<Accepted>(last).size(), 1U);
  EXPECT_EQ(all<Accepted>(last)[0].root, root(5));
  ASSERT_EQ(all<Convicted>(last).size(), 2U);
  for (const auto& convicted : all<Convicted>(last)) EXPECT_GT(convicted.penalty, 0);
  EXPECT_EQ(referee->stakes().locked(key(1)), 0);
}

TEST_F(RefereeTest, TwoOfThreeStillWinAnOrdinaryQuorumAfterARestart) {
  referee.emplace(settings(0), Secret{});
  referee->add_job(job, {.replicas = 2, .audit = 0, .parts = 1, .agree = {}}, 1);
  for (const std::uint8_t who : std::array<std::uint8_t, 2>{7, 8})
    referee->votes().restore_counted(
        {.task = task(0), .worker = key(who), .attempt = 1, .root = root(who)});

  const auto restored =
      referee->restored(job, value, [](const PublicKey&) { return 0; }, {}, now).value();

  ASSERT_EQ(all<NeedReplicas>(restored).size(), 1U);
  EXPECT_EQ(all<NeedReplicas>(restored)[0].replicas, 3U);
  EXPECT_EQ(all<Accepted>(deliver(0, 9, 8)).size(), 1U);
}

TEST_F(RefereeTest, TheRestOfAQuorumIsAskedForAfterARestart) {
  referee.emplace(settings(0), Secret{});
  referee->add_job(job, {.replicas = 3, .audit = 0, .parts = 1, .agree = {}}, 1);
  for (const std::uint8_t who : std::array<std::uint8_t, 2>{7, 8})
    referee->votes().restore_counted(
        {.task = task(0), .worker = key(who), .attempt = 1, .root = root(5)});

  const auto restored =
      referee->restored(job, value, [](const PublicKey&) { return 0; }, {}, now).value();

  ASSERT_EQ(all<NeedReplicas>(restored).size(), 1U);
  EXPECT_EQ(all<NeedReplicas>(restored)[0].replicas, 3U);
}

TEST_F(RefereeTest, TheSameEventsGiveTheSameRulings) {
  const auto play = [&] {
    RefereeSettings chosen;
    start(chosen, 200);
    std::vector<std::size_t> kinds;
    for (std::uint32_t i = 0; i < 200; ++i) {
      (void)lease(i, 1);
      for (const auto& ruling : deliver(i, 1, 5)) kinds.push_back(ruling.index());
    }
    return kinds;
  };
  EXPECT_EQ(play(), play());
}

}  // namespace
}  // namespace weft::trust
