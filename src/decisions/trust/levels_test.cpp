// Tests that no number of free wallets decides anything: their agreement is no verdict, convicts no
// worker and earns no standing. Each rule is one field of Defences, and each test also shows what
// happens if its rule is off.
#include "decisions/trust/levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "decisions/trust/referee.h"

namespace weft::trust {
namespace {

constexpr UnixMillis moment = 1'000'000;
constexpr MicroCredits price = 1000;

PublicKey wallet(std::uint32_t number) {
  PublicKey key;
  key.bytes[0] = static_cast<std::uint8_t>(number);
  key.bytes[1] = static_cast<std::uint8_t>(number >> 8);
  return key;
}
Hash outcome(std::uint8_t number) {
  Hash hash;
  hash.bytes[0] = number;
  return hash;
}
constexpr std::uint8_t right = 5;
constexpr std::uint8_t wrong = 66;
// The number of the first worker that the operator invited as a worker.
constexpr std::uint32_t operators = 500;
constexpr std::uint32_t verifiers = 600;  // The first one invited as a verifier.
constexpr std::uint32_t honest = 400;     // The first established worker.

template <class T>
std::vector<T> every(const std::vector<Ruling>& rulings) {
  std::vector<T> found;
  for (const Ruling& ruling : rulings) {
    if (const T* one = std::get_if<T>(&ruling)) found.push_back(*one);
  }
  return found;
}

class LevelsTest : public testing::Test {
 protected:
  void open(const RefereeSettings& chosen = {}, std::uint32_t replicas = 2,
            std::uint32_t tasks = 100) {
    referee.emplace(chosen, Secret{});
    for (std::uint32_t i = 0; i < 20; ++i) {
      referee->standing().admissions().invite(wallet(operators + i), Invitation::worker);
      referee->standing().admissions().invite(wallet(verifiers + i), Invitation::verifier);
      referee->standing().book().restore(
          wallet(honest + i),
          {.verified = 1000, .updated = moment, .wrong = 0, .suspended_until = 0});
    }
    add(0, replicas, tasks);
  }
  void add(std::uint8_t number, std::uint32_t replicas = 2, std::uint32_t tasks = 100) {
    PublicKey client;
    client.bytes[31] = number;
    referee->add_job(job(number), {.replicas = replicas, .parts = 32, .client = client}, tasks);
  }
  static JobId job(std::uint8_t number) {
    JobId id;
    id.bytes[0] = static_cast<std::uint8_t>(number + 1);
    return id;
  }
  static TaskId task(std::uint32_t index, std::uint8_t of = 0) {
    return {.job = job(of), .index = index};
  }
  std::vector<Ruling> run(const TaskId& id, std::uint32_t who, std::uint8_t what) {
    auto out = referee->leased(id, wallet(who), price, 0, moment);
    std::ranges::move(
        referee->add_result(
            {.task = id, .worker = wallet(who), .attempt = 1, .root = outcome(what)}, moment),
        std::back_inserter(out));
    const std::vector<Claim> claims{{.task = id, .attempt = 1, .root = outcome(what)}};
    std::ranges::move(referee->add_receipt(wallet(who), claims, moment), std::back_inserter(out));
    return out;
  }
  std::vector<Ruling> check(const TaskId& id, AuditOutcome found, std::uint32_t by = 0) {
    return by == 0 ? referee->audited(id, {}, found, moment, Auditor::coordinator,
                                      {.devices = Devices::two})
                   : referee->audited(id, wallet(by), found, moment);
  }
  // Reports that the verifier found a step of the suspect's wrong.
  std::vector<Ruling> check_steps(const TaskId& id) {
    return referee->audited(id, {}, AuditOutcome::differs, moment, Auditor::coordinator,
                            {.devices = Devices::two, .refuted = Refuted::steps});
  }

  std::optional<Referee> referee;
};

TEST_F(LevelsTest, AgreementOfAnyNumberOfNewcomersDecidesNothing) {
  open({}, 100);
  std::vector<Ruling> last;
  for (std::uint32_t who = 1; who <= 100; ++who) {
    last = run(task(0), who, wrong);
    EXPECT_TRUE(every<Accepted>(last).empty());
  }

  const auto wanted = every<AuditWanted>(last);
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_TRUE(wanted[0].trusted_only);
  EXPECT_EQ(wanted[0].root, outcome(wrong));
  const auto refused = check(task(0), AuditOutcome::differs);
  EXPECT_EQ(every<Refused>(refused).size(), 100U);
  EXPECT_TRUE(every<Accepted>(refused).empty());
}

TEST_F(LevelsTest, WithoutTheRuleTwoNewcomersDecide) {
  RefereeSettings today;
  today.defences.newcomers_decide_nothing = false;
  open(today);
  (void)run(task(0), 1, wrong);

  EXPECT_EQ(every<Accepted>(run(task(0), 2, wrong)).size(), 1U);
}

TEST_F(LevelsTest, ANewcomersResultIsAcceptedWhenARootHasCheckedAPartOfIt) {
  open({}, 1);
  const auto wanted = every<AuditWanted>(run(task(0), 1, right));

  ASSERT_EQ(wanted.size(), 1U) << "one replica is a result like any other";
  EXPECT_EQ(wanted[0].samples, 32U) << "a wallet without any standing is checked whole";
  EXPECT_EQ(every<Accepted>(check(task(0), AuditOutcome::agrees)).size(), 1U);
}

TEST_F(LevelsTest, NewcomersDoNotCheckEachOther) {
  open({}, 1);
  (void)run(task(0), 1, wrong);

  const auto after = check(task(0), AuditOutcome::agrees, 2);

  EXPECT_TRUE(every<Accepted>(after).empty());
}

TEST_F(LevelsTest, TwoEstablishedWorkersOfDifferentOwnersDecideTogether) {
  open();
  (void)run(task(0), honest, right);
  EXPECT_EQ(every<Accepted>(run(task(0), honest + 1, right)).size(), 1U);

  referee->standing().admissions().set_owners([](const PublicKey&) { return wallet(7); });
  (void)run(task(1), honest, right);
  EXPECT_TRUE(every<Accepted>(run(task(1), honest + 1, right)).empty()) << "they are one";
}

TEST_F(LevelsTest, ANewcomersResultTakesTwoEstablishedAuditors) {
  open({}, 1);
  (void)run(task(0), 1, right);

  const auto again = check(task(0), AuditOutcome::agrees, honest);
  EXPECT_TRUE(every<Accepted>(again).empty());
  ASSERT_EQ(every<AuditWanted>(again).size(), 1U);
  EXPECT_EQ(every<AuditWanted>(again)[0].except, std::vector{wallet(honest)});
  EXPECT_EQ(every<Accepted>(check(task(0), AuditOutcome::agrees, honest + 1)).size(), 1U);
}

TEST_F(LevelsTest, TheOperatorsWorkerIsBelievedAgainstAnyNumberOfNewcomers) {
  open();
  (void)run(task(0), operators, right);

  const auto after = run(task(0), 1, wrong);
  std::vector<Ruling> last = after;
  for (std::uint32_t who = 2; every<Accepted>(last).empty() && who < 50; ++who)
    last = run(task(0), who, wrong);

  const auto accepted = every<Accepted>(last);
  ASSERT_EQ(accepted.size(), 1U);
  EXPECT_EQ(accepted[0].root, outcome(right));
  EXPECT_TRUE(every<Convicted>(last).empty()) << "an invited worker convicts no other";
}

TEST_F(LevelsTest, OutvotingConvictsNoWorker) {
  open({}, 3);
  (void)run(task(0), honest, right);
  std::vector<Ruling> all;
  for (std::uint32_t who = 1; who < 20; ++who)
    std::ranges::move(run(task(0), who, wrong), std::back_inserter(all));
  std::ranges::move(check(task(0), AuditOutcome::failed), std::back_inserter(all));

  EXPECT_TRUE(every<Convicted>(all).empty());
  EXPECT_TRUE(referee->book().established(wallet(honest), moment));
  EXPECT_FALSE(referee->book().suspended(wallet(honest), moment));
}

TEST_F(LevelsTest, WithoutTheRulesThreeNewcomersConvictAnHonestWorker) {
  RefereeSettings today;
  today.defences.newcomers_decide_nothing = false;
  today.defences.only_roots_convict = false;
  open(today, 3);
  (void)run(task(0), honest, right);
  std::vector<Ruling> all;
  for (std::uint32_t who = 1; who < 20; ++who)
    std::ranges::move(run(task(0), who, wrong), std::back_inserter(all));

  EXPECT_EQ(every<Convicted>(all).size(), 1U);
  EXPECT_TRUE(referee->book().suspended(wallet(honest), moment));
}

TEST_F(LevelsTest, AgreementEarnsNoStanding) {
  open();
  for (std::uint32_t index = 0; index < 50; ++index) {
    (void)run(task(index), 1, right);
    (void)run(task(index), 2, right);
    (void)check(task(index), AuditOutcome::agrees, operators);
  }
  EXPECT_EQ(referee->book().verified(wallet(1), moment), 0);

  RefereeSettings today;
  today.defences.newcomers_decide_nothing = false;
  today.defences.standing_under_roots = false;
  open(today);
  for (std::uint32_t index = 0; index < 99; ++index) {
    (void)run(task(index), 1, right);
    (void)run(task(index), 2, right);
  }
  EXPECT_GT(referee->book().verified(wallet(1), moment), 0) << "without the rule it does";
}

TEST_F(LevelsTest, OneClientMakesOnlyAPartOfAWorkersStanding) {
  const auto verified = [&](double share) {
    RefereeSettings chosen;
    chosen.defences.client_share_max = share;
    open(chosen, 1);
    for (std::uint32_t index = 0; index < 60; ++index) {
      (void)run(task(index), 1, right);
      (void)check(task(index), AuditOutcome::agrees);
    }
    return referee->book().verified(wallet(1), moment);
  };
  EXPECT_LE(verified(0.1), Evidence::client_floor);
  EXPECT_GT(verified(1e9), 50.0) << "without the rule its own jobs establish a wallet";
}

TEST_F(LevelsTest, EvidenceNeedsEnoughWorkersThatCouldHaveBeenDrawn) {
  open();
  const auto earned = [&](std::uint8_t number, std::uint32_t eligible) {
    referee->add_job(job(number),
                     {.replicas = 1, .parts = 32, .eligible = [eligible] { return eligible; }}, 5);
    (void)run(task(0, number), number, right);
    (void)check(task(0, number), AuditOutcome::agrees);
    return referee->book().verified(wallet(number), moment);
  };
  EXPECT_EQ(earned(31, 9), 0);
  EXPECT_GT(earned(32, 10), 0);
}

TEST_F(LevelsTest, ARootsMismatchConvictsInJobsOfTwoClientsThatOthersOfTheVendorGetRight) {
  open();
  add(1);
  std::vector<Ruling> last;
  const auto caught = [&](std::uint8_t number, std::uint32_t by) {
    (void)run(task(0, number), 1, wrong);
    (void)run(task(0, number), 2, wrong);
    (void)check(task(0, number), AuditOutcome::differs);
    (void)run(task(0, number), by, right);
    return run(task(0, number), by + 1, right);
  };
  EXPECT_TRUE(every<Convicted>(caught(0, operators)).empty()) << "one client may have written it";

  const auto convicted = every<Convicted>(caught(1, operators));

  ASSERT_EQ(convicted.size(), 2U);
  EXPECT_TRUE(referee->book().suspended(wallet(1), moment));
  EXPECT_TRUE(referee->book().suspended(wallet(2), moment));
}

// The right answer differs by device: roots compute one answer, and devices of the suspect's vendor
// another.
TEST_F(LevelsTest, AShaderThatDiffersByDeviceConvictsNoWorker) {
  const auto convicted = [&](bool rule) {
    RefereeSettings chosen;
    chosen.defences.same_vendor_confirms = rule;
    open(chosen);
    std::size_t count = 0;
    for (std::uint8_t number = 1; number <= 3; ++number) {
      add(number);
      referee->standing().admissions().set_vendor(wallet(1), "amd");
      (void)run(task(0, number), 1, wrong);
      (void)run(task(0, number), 2, wrong);
      (void)check(task(0, number), AuditOutcome::differs);
      (void)run(task(0, number), honest, right);
      for (const auto& each : every<Convicted>(run(task(0, number), honest + 1, right)))
        count += each.worker == wallet(1) ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(convicted(true), 0U);
  EXPECT_GT(convicted(false), 0U);
}

TEST_F(LevelsTest, WhereTheOperatorsWorkerAndARootDifferTheJobEnds) {
  open();
  referee->add_job(job(3), {.replicas = 1, .audit = 1, .parts = 32}, 5);
  ASSERT_EQ(every<AuditWanted>(run(task(0, 3), operators, right)).size(), 1U);

  const auto ended = check(task(0, 3), AuditOutcome::differs);

  ASSERT_EQ(every<JobFailed>(ended).size(), 1U);
  EXPECT_TRUE(every<JobFailed>(ended)[0].irreproducible);
  EXPECT_TRUE(every<Convicted>(ended).empty());
}

// Two newcomers hand in the right result, but the first one's roots of steps come from no
// computation.
TEST_F(LevelsTest, AWrongStepRejectsItsWorkerAloneAndNotTheResult) {
  open();
  (void)run(task(0), 1, right);
  ASSERT_EQ(every<AuditWanted>(run(task(0), 2, right)).at(0).suspect, wallet(1));

  const auto refused = check_steps(task(0));

  ASSERT_EQ(every<Refused>(refused).size(), 1U);
  EXPECT_EQ(every<Refused>(refused)[0].worker, wallet(1));
  EXPECT_TRUE(every<JobFailed>(refused).empty());
  ASSERT_EQ(every<NeedReplicas>(refused).size(), 1U) << "another worker is asked";
  EXPECT_EQ(every<NeedReplicas>(refused)[0].replicas, 3U);
  EXPECT_EQ(every<AuditWanted>(run(task(0), 3, right)).at(0).suspect, wallet(2));
  const auto accepted = every<Accepted>(check(task(0), AuditOutcome::agrees));
  ASSERT_EQ(accepted.size(), 1U);
  EXPECT_EQ(accepted[0].root, outcome(right));
  EXPECT_EQ(accepted[0].agreeing, (std::vector{wallet(2), wallet(3)})) << "the first is not paid";

  RefereeSettings without;
  without.defences.steps_are_their_workers = false;
  open(without);
  (void)run(task(0), 1, right);
  (void)run(task(0), 2, right);
  EXPECT_EQ(every<Refused>(check_steps(task(0))).size(), 2U) << "without the rule";
}

TEST_F(LevelsTest, AWrongStepOfTheOperatorsWorkerEndsNoJob) {
  for (const bool rule : {true, false}) {
    RefereeSettings chosen;
    chosen.defences.steps_are_their_workers = rule;
    open(chosen);
    referee->add_job(job(3), {.replicas = 1, .audit = 1, .parts = 1}, 5);
    ASSERT_EQ(every<AuditWanted>(run(task(0, 3), operators, right)).size(), 1U);

    const auto after = check_steps(task(0, 3));

    EXPECT_EQ(every<JobFailed>(after).size(), rule ? 0U : 1U);
    if (!rule) continue;
    EXPECT_EQ(every<Refused>(after).size(), 1U);
    (void)run(task(0, 3), 1, right);
    EXPECT_EQ(every<Accepted>(check(task(0, 3), AuditOutcome::agrees)).size(), 1U);
  }
}

// The operator's worker gives the right result and has a device of the same vendor, so that a
// mismatch counts at once.
TEST_F(LevelsTest, WrongStepsOfARightResultConvictNoWorker) {
  const auto convicted = [&](std::uint8_t result) {
    std::size_t count = 0;
    for (std::uint8_t client = 1; client <= 4; ++client) {
      add(client, 1);
      (void)run(task(0, client), 1, result);
      auto after = check_steps(task(0, client));
      EXPECT_EQ(every<Refused>(after).size(), 1U);
      std::ranges::move(run(task(0, client), operators, right), std::back_inserter(after));
      EXPECT_EQ(every<Accepted>(after).size(), 1U);
      EXPECT_TRUE(every<PollWanted>(after).empty());
      count += every<Convicted>(after).size();
    }
    return count;
  };
  open();
  EXPECT_EQ(convicted(right), 0U);
  EXPECT_EQ(referee->stakes().locked(wallet(1)), 0);

  open();
  EXPECT_GT(convicted(wrong), 0U) << "of a wrong result they count as it does";
  RefereeSettings without;
  without.defences.accepted_is_no_mismatch = false;
  open(without);
  EXPECT_GT(convicted(right), 0U) << "without the rule";
}

TEST_F(LevelsTest, ARootDecidesBetweenNewcomersThatDiffer) {
  open();
  (void)run(task(0), 1, wrong);
  const auto differ = every<AuditWanted>(run(task(0), 2, right));
  ASSERT_EQ(differ.size(), 1U);
  EXPECT_TRUE(differ[0].dispute);
  EXPECT_EQ(differ[0].rivals.size(), 1U);

  const bool first_is_wrong = differ[0].root == outcome(wrong);
  auto after = check(task(0), first_is_wrong ? AuditOutcome::differs : AuditOutcome::agrees);
  if (every<Accepted>(after).empty()) {
    after = run(task(0), 3, right);
    after = check(task(0), AuditOutcome::agrees);
  }

  ASSERT_EQ(every<Accepted>(after).size(), 1U);
  EXPECT_EQ(every<Accepted>(after)[0].root, outcome(right));
}

TEST_F(LevelsTest, WithoutARootTrustedWorkersDecideBetweenThem) {
  open();
  (void)run(task(0), 1, wrong);
  (void)run(task(0), 2, right);
  const auto asked = check(task(0), AuditOutcome::failed);
  ASSERT_EQ(every<NeedReplicas>(asked).size(), 1U);
  EXPECT_TRUE(every<Accepted>(run(task(0), 3, wrong)).empty()) << "heads do not count";

  const auto after = run(task(0), operators, right);

  ASSERT_EQ(every<Accepted>(after).size(), 1U);
  EXPECT_EQ(every<Accepted>(after)[0].root, outcome(right));
  EXPECT_TRUE(every<Convicted>(after).empty());
}

TEST_F(LevelsTest, ANewcomerHoldsAsManyLeasesAsItsSamplesHavePassed) {
  open({}, 1);
  std::vector<std::uint32_t> held{referee->standing().leases_max(wallet(1), moment)};
  for (std::uint32_t index = 0; index < 40; ++index) {
    (void)run(task(index), 1, right);
    (void)check(task(index), AuditOutcome::agrees);
    held.push_back(referee->standing().leases_max(wallet(1), moment));
  }
  EXPECT_EQ(held[0], 1U);
  EXPECT_EQ(held[1], 2U);
  EXPECT_EQ(held[2], 4U);
  EXPECT_EQ(held[40], 64U);

  (void)run(task(50), 1, wrong);
  (void)check(task(50), AuditOutcome::differs);
  EXPECT_EQ(referee->standing().leases_max(wallet(1), moment), 1U);
  EXPECT_GT(referee->standing().leases_max(wallet(operators), moment), 1000U);
}

TEST_F(LevelsTest, ANewcomersSamplesShrinkAsARootConfirmsThem) {
  open({}, 1);
  std::vector<std::uint32_t> parts;
  for (std::uint8_t number = 1; number <= 12; ++number) {
    add(number, 1);
    const auto wanted = every<AuditWanted>(run(task(0, number), 1, right));
    if (!wanted.empty()) parts.push_back(wanted[0].samples);
    (void)check(task(0, number), AuditOutcome::agrees);
  }
  ASSERT_GE(parts.size(), 10U);
  EXPECT_EQ(parts[0], 32U);
  EXPECT_EQ(parts[1], 16U);
  EXPECT_LE(parts[9], 4U);
}

TEST_F(LevelsTest, WhereAClientAsksForNoMoreAgreementIsEnoughAndCountsForNothing) {
  open();
  referee->add_job(job(3), {.replicas = 2, .parts = 32, .anyone = true}, 5);
  (void)run(task(0, 3), 1, wrong);

  EXPECT_EQ(every<Accepted>(run(task(0, 3), 2, wrong)).size(), 1U);
  EXPECT_EQ(referee->book().verified(wallet(1), moment), 0);
}

}  // namespace
}  // namespace weft::trust
