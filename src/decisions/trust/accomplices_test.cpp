// Established workers may be accomplices of each other or of a client. A root checks the results
// that established workers agree on, and a job whose right answer differs by device convicts no
// honest worker. Each test shows what happens without the rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "decisions/trust/referee.h"

namespace weft::trust {
namespace {

constexpr UnixMillis moment = 1'000'000;
constexpr MicroCredits price = 1000;
constexpr std::uint8_t right = 5;
constexpr std::uint8_t wrong = 66;

PublicKey wallet(std::uint32_t number) {
  PublicKey key;
  key.bytes[0] = static_cast<std::uint8_t>(number);
  key.bytes[1] = 1;
  return key;
}
Hash outcome(std::uint8_t number) {
  Hash hash;
  hash.bytes[0] = number;
  return hash;
}
JobId job(std::uint8_t number) {
  JobId id;
  id.bytes[0] = number;
  return id;
}

template <class T>
std::vector<T> every(const std::vector<Ruling>& rulings) {
  std::vector<T> found;
  for (const Ruling& ruling : rulings) {
    if (const T* one = std::get_if<T>(&ruling)) found.push_back(*one);
  }
  return found;
}

class AccomplicesTest : public testing::Test {
 protected:
  void open(const RefereeSettings& chosen = {}, bool root = true) {
    referee.emplace(chosen, Secret{});
    referee->standing().set_root_at_hand([root] { return root; });
    for (std::uint32_t i = 0; i < 40; ++i)
      referee->standing().book().restore(
          wallet(i), {.verified = 1000, .updated = moment, .wrong = 0, .suspended_until = 0});
  }
  void add(std::uint8_t number, std::uint32_t replicas = 1, std::uint32_t tasks = 64) {
    PublicKey client;
    client.bytes[31] = number;
    referee->add_job(job(number), {.replicas = replicas, .parts = 32, .client = client}, tasks);
  }
  std::vector<Ruling> run(const TaskId& id, std::uint32_t who, std::uint8_t what,
                          MicroCredits stake = 0) {
    auto out = referee->leased(id, wallet(who), price, stake, moment);
    std::ranges::move(
        referee->add_result(
            {.task = id, .worker = wallet(who), .attempt = 1, .root = outcome(what)}, moment),
        std::back_inserter(out));
    const std::vector<Claim> claims{{.task = id, .attempt = 1, .root = outcome(what)}};
    std::ranges::move(referee->add_receipt(wallet(who), claims, moment), std::back_inserter(out));
    return with_polls(std::move(out));
  }
  std::vector<Ruling> root_says(const TaskId& id, AuditOutcome found,
                                Refuted refuted = Refuted::result) {
    return with_polls(referee->audited(
        id, {}, found, moment, Auditor::coordinator,
        {.devices = devices, .vendor = "mesa", .part = Part{0, 1}, .refuted = refuted}));
  }
  // Answers each poll: the established workers that are asked compute the part, one after another.
  std::vector<Ruling> with_polls(std::vector<Ruling> out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto* asked = std::get_if<PollWanted>(&out[i]);
      if (asked == nullptr) continue;
      const PollWanted wanted = *asked;
      std::uint32_t who = 39;
      for (std::uint32_t answered = 0; answered < wanted.count; ++answered) {
        while (who > 0 && std::ranges::contains(wanted.except, wallet(who))) --who;
        ++parts_asked;
        std::ranges::move(
            who == 0
                ? referee->polled(wanted.task, wanted.suspect, {}, AuditOutcome::failed, moment)
                : referee->polled(wanted.task, wanted.suspect, wallet(who--), part_says, moment),
            std::back_inserter(out));
      }
    }
    return out;
  }
  // A worker is wrong, and another one gets the task right.
  std::vector<Ruling> mismatch(const TaskId& id, std::uint32_t suspect, std::uint32_t other) {
    (void)run(id, suspect, wrong);
    auto all = root_says(id, AuditOutcome::differs);
    std::ranges::move(run(id, other, right), std::back_inserter(all));
    std::ranges::move(root_says(id, AuditOutcome::agrees), std::back_inserter(all));
    EXPECT_EQ(every<Accepted>(all).size(), 1U);
    return all;
  }
  std::vector<Ruling> passes(const TaskId& id, std::uint32_t who) {
    (void)run(id, who, right);
    return root_says(id, AuditOutcome::agrees);
  }

  std::optional<Referee> referee;
  Devices devices = Devices::two;
  AuditOutcome part_says = AuditOutcome::agrees;
  std::uint32_t parts_asked = 0;
};

TEST_F(AccomplicesTest, ARootLooksAtWhatTwoEstablishedWorkersAgreeOn) {
  open();
  add(1, 2);
  (void)run({job(1), 0}, 0, wrong);
  const auto agreed = run({job(1), 0}, 1, wrong);

  EXPECT_TRUE(every<Accepted>(agreed).empty());
  const auto wanted = every<AuditWanted>(agreed);
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_TRUE(wanted[0].by_root);
  const auto found = root_says({job(1), 0}, AuditOutcome::differs);
  EXPECT_EQ(every<Refused>(found).size(), 2U);

  RefereeSettings without;
  without.defences.roots_check_pairs = false;
  open(without);
  add(1, 2);
  (void)run({job(1), 0}, 0, wrong);
  EXPECT_EQ(every<Accepted>(run({job(1), 0}, 1, wrong)).size(), 1U);
}

TEST_F(AccomplicesTest, WhereNoRootCanRunTheJobTwoEstablishedWorkersDecide) {
  open();
  add(1, 2);
  (void)run({job(1), 0}, 0, right);
  (void)run({job(1), 0}, 1, right);
  EXPECT_EQ(every<Accepted>(root_says({job(1), 0}, AuditOutcome::failed)).size(), 1U);

  open({}, false);
  add(1, 2);
  (void)run({job(1), 0}, 0, right);
  EXPECT_EQ(every<Accepted>(run({job(1), 0}, 1, right)).size(), 1U);
}

TEST_F(AccomplicesTest, ARootChecksAShareOfTheEstablishedAuditsAgain) {
  RefereeSettings always;
  always.defences.root_rechecks = 1;
  for (const bool rechecks : {true, false}) {
    if (!rechecks) always.defences.root_rechecks = 0;
    open(always);
    add(1);
    (void)run({job(1), 0}, 0, right);

    const auto confirmed = referee->audited({job(1), 0}, wallet(1), AuditOutcome::agrees, moment);

    const auto wanted = every<AuditWanted>(confirmed);
    EXPECT_EQ(wanted.size() == 1 && wanted[0].by_root, rechecks);
    EXPECT_EQ(every<Accepted>(confirmed).size(), rechecks ? 0U : 1U);
  }
}

// The client wrote a shader whose right answer on the suspect's devices differs from the one on the
// verifier's device. An accomplice claims to have a device like the suspect's, and gives the
// verifier's answer.
TEST_F(AccomplicesTest, AnAccompliceOfTwoClientsConvictsNoHonestWorker) {
  for (const bool rule : {true, false}) {
    RefereeSettings settings;
    settings.defences.same_vendor_confirms = rule;
    open(settings);
    std::size_t convicted = 0;
    for (std::uint8_t client = 1; client <= 2; ++client) {
      add(client);
      convicted += every<Convicted>(mismatch({job(client), 0}, 0, 1)).size();
    }

    EXPECT_EQ(convicted, rule ? 0U : 1U);
  }
}

TEST_F(AccomplicesTest, SevenAccomplicesOfTwoClientsDoNotEither) {
  open();
  std::size_t convicted = 0;
  for (std::uint8_t client = 1; client <= 2; ++client) {
    add(client);
    for (std::uint32_t who = 1; who <= 7; ++who)
      convicted += every<Convicted>(passes({job(client), who}, who)).size();
    convicted += every<Convicted>(mismatch({job(client), 0}, 0, 1)).size();
  }

  EXPECT_EQ(convicted, 0U);
}

TEST_F(AccomplicesTest, AMismatchThatManyOfTheVendorHaveRightConvictsAtOnce) {
  open();
  add(1);
  for (std::uint32_t who = 1; who <= 20; ++who) (void)passes({job(1), who}, who);

  EXPECT_EQ(every<Convicted>(mismatch({job(1), 0}, 0, 1)).size(), 1U);
}

TEST_F(AccomplicesTest, AMismatchIsJudgedWhenEnoughOthersAreRightLater) {
  open();
  add(1);
  EXPECT_TRUE(every<Convicted>(mismatch({job(1), 0}, 0, 1)).empty());
  std::size_t convicted = 0;
  for (std::uint32_t who = 2; who <= 12; ++who)
    convicted += every<Convicted>(passes({job(1), who}, who)).size();
  EXPECT_EQ(convicted, 0U) << "a lead of ten is a mismatch, and one client's";

  add(2);
  for (std::uint32_t who = 1; who <= 12; ++who) (void)passes({job(2), who}, who);
  EXPECT_EQ(every<Convicted>(mismatch({job(2), 0}, 0, 1)).size(), 1U);
}

// The client made the right answer differ by device in one task only, so that the other workers of
// the vendor got the other tasks of the job right.
TEST_F(AccomplicesTest, AJobThatDiffersByDeviceInOneTaskConvictsNoHonestWorker) {
  for (const bool rule : {true, false}) {
    RefereeSettings settings;
    if (!rule) settings.defences.part_lead_to_count = 0;
    open(settings);
    part_says = AuditOutcome::differs;
    std::size_t convicted = 0;
    for (std::uint8_t client = 1; client <= 2; ++client) {
      add(client);
      for (std::uint32_t who = 1; who <= 20; ++who) (void)passes({job(client), who}, who);
      convicted += every<Convicted>(mismatch({job(client), 0}, 0, 21)).size();
      convicted += every<Convicted>(mismatch({job(client), 50}, 0, 21)).size();
    }

    EXPECT_EQ(convicted > 0, !rule);
    if (rule) {
      EXPECT_EQ(referee->stakes().locked(wallet(0)), 0);
      EXPECT_LE(parts_asked, 2 * 11U) << "no mismatch of the vendor counts in the job any more";
    }
  }
}

TEST_F(AccomplicesTest, AFewAccompliceThatSayThatTheDeviceIsAtFaultSaveNoCheat) {
  open();
  add(1);
  add(2);
  std::size_t convicted = 0;
  for (std::uint8_t client = 1; client <= 2; ++client) {
    for (std::uint32_t who = 1; who <= 20; ++who) (void)passes({job(client), who}, who);
    (void)run({job(client), 0}, 0, wrong);
    (void)referee->audited({job(client), 0}, {}, AuditOutcome::differs, moment,
                           Auditor::coordinator,
                           {.devices = Devices::two, .vendor = "mesa", .part = Part{0, 1}});
    auto asked = referee->leased({job(client), 0}, wallet(21), price, 0, moment);
    (void)referee->add_result(
        {.task = {job(client), 0}, .worker = wallet(21), .attempt = 1, .root = outcome(right)},
        moment);
    const std::vector<Claim> claims{
        {.task = {job(client), 0}, .attempt = 1, .root = outcome(right)}};
    (void)referee->add_receipt(wallet(21), claims, moment);
    asked = referee->audited({job(client), 0}, {}, AuditOutcome::agrees, moment,
                             Auditor::coordinator, {.devices = Devices::two});
    // One of every four asked workers is an accomplice.
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (std::get_if<Convicted>(&asked[i]) != nullptr) ++convicted;
      const auto* poll = std::get_if<PollWanted>(&asked[i]);
      if (poll == nullptr) continue;
      const PollWanted wanted = *poll;
      std::uint32_t who = 1;
      for (std::uint32_t answered = 0; answered < wanted.count; ++answered) {
        while (std::ranges::contains(wanted.except, wallet(who))) ++who;
        std::ranges::move(
            referee->polled(wanted.task, wanted.suspect, wallet(who),
                            who % 4 == 0 ? AuditOutcome::differs : AuditOutcome::agrees, moment),
            std::back_inserter(asked));
        ++who;
      }
    }
  }

  EXPECT_EQ(convicted, 1U);
}

// The verdict of one device proves nothing, because a client may have written its shader so that
// this device gives another answer.
TEST_F(AccomplicesTest, OnTheWordOfOneDeviceNoWorkerIsConvicted) {
  for (const bool rule : {true, false}) {
    RefereeSettings settings;
    settings.defences.two_devices = rule;
    open(settings);
    devices = Devices::one;
    for (std::uint32_t who = 0; who < 40; ++who)
      referee->standing().admissions().set_vendor(wallet(who), "mesa");
    std::size_t convicted = 0;
    add(1);
    for (std::uint32_t who = 1; who <= 20; ++who) (void)passes({job(1), who}, who);
    convicted += every<Convicted>(mismatch({job(1), 0}, 0, 21)).size();

    EXPECT_EQ(convicted, rule ? 0U : 1U);
  }
}

TEST_F(AccomplicesTest, WorkersOfAnotherVendorThanTheVerifiersAreASecondDevice) {
  open();
  devices = Devices::one;
  for (std::uint32_t who = 0; who < 40; ++who)
    referee->standing().admissions().set_vendor(wallet(who), "nvidia");
  add(1);
  for (std::uint32_t who = 1; who <= 20; ++who) (void)passes({job(1), who}, who);

  EXPECT_EQ(every<Convicted>(mismatch({job(1), 0}, 0, 21)).size(), 1U);
}

TEST_F(AccomplicesTest, APartOfWhichTheVerifiersTwoDevicesComputeDifferentThingsCountsForNothing) {
  open();
  devices = Devices::divided;
  add(1);
  for (std::uint32_t who = 1; who <= 20; ++who) (void)passes({job(1), who}, who);

  EXPECT_TRUE(every<Convicted>(mismatch({job(1), 0}, 0, 21)).empty());
  EXPECT_EQ(referee->stakes().locked(wallet(0)), 0);
  EXPECT_EQ(parts_asked, 0U);
}

TEST_F(AccomplicesTest, AWorkerThatTwoDevicesRefuteIsSuspectedBeforeItIsConvicted) {
  open();
  add(1);
  (void)run({job(1), 0}, 0, wrong);

  const auto said = root_says({job(1), 0}, AuditOutcome::differs);

  EXPECT_TRUE(every<Convicted>(said).empty());
  const auto suspected = every<Suspected>(said);
  ASSERT_EQ(suspected.size(), 1U);
  EXPECT_EQ(suspected[0].worker, wallet(0));
  EXPECT_TRUE(referee->standing().watched(wallet(0)));
  EXPECT_FALSE(referee->standing().watched(wallet(1)));

  devices = Devices::one;
  (void)run({job(1), 1}, 1, wrong);
  EXPECT_TRUE(every<Suspected>(root_says({job(1), 1}, AuditOutcome::differs)).empty())
      << "the one device may be at fault";
}

TEST_F(AccomplicesTest, WhatAMismatchMayCostCannotBeWithdrawnMeanwhile) {
  open();
  add(1);
  (void)mismatch({job(1), 0}, 0, 1);
  const MicroCredits locked = referee->stakes().locked(wallet(0));
  EXPECT_GE(locked, 3 * 32 * price) << "three prices over the chance that a root finds one part";

  referee->remove_job(job(1));
  EXPECT_EQ(referee->stakes().locked(wallet(0)), 0) << "not confirmed: it costs nothing";
}

TEST_F(AccomplicesTest, AnAuditorThatReportsAWrongResultIsNotConvictedForIt) {
  open();
  add(1);
  (void)run({job(1), 0}, 0, wrong);
  (void)referee->audited({job(1), 0}, wallet(1), AuditOutcome::differs, moment);
  (void)root_says({job(1), 0}, AuditOutcome::differs);
  (void)run({job(1), 0}, 2, right);

  const auto accepted = root_says({job(1), 0}, AuditOutcome::agrees);

  EXPECT_EQ(every<Accepted>(accepted).size(), 1U);
  EXPECT_TRUE(every<Convicted>(accepted).empty());
  EXPECT_FALSE(referee->book().suspended(wallet(1), moment));
}

// The auditor called the first result wrong. A root that finds wrong steps in this result neither
// confirms nor refutes the auditor. Nor does the acceptance of another result, which the auditor
// never saw.
TEST_F(AccomplicesTest, AnAuditorIsNotJudgedByAResultThatItDidNotSee) {
  open();
  add(1);
  (void)run({job(1), 0}, 0, wrong);
  (void)referee->audited({job(1), 0}, wallet(1), AuditOutcome::differs, moment);
  ASSERT_EQ(every<Refused>(root_says({job(1), 0}, AuditOutcome::differs, Refuted::steps)).size(),
            1U);
  (void)run({job(1), 0}, 2, right);

  const auto accepted = root_says({job(1), 0}, AuditOutcome::agrees);

  EXPECT_EQ(every<Accepted>(accepted).size(), 1U);
  EXPECT_EQ(referee->stakes().locked(wallet(1)), 0);
}

TEST_F(AccomplicesTest, WhatIsHeldOfAWorkerWhoseStepsAreWrongIsComputedByAnother) {
  open();
  add(1, 2);
  (void)run({job(1), 0}, 0, right, 1'000'000);
  ASSERT_EQ(every<AuditWanted>(run({job(1), 1}, 0, right, 1'000'000)).size(), 1U);
  EXPECT_TRUE(every<Accepted>(root_says({job(1), 0}, AuditOutcome::agrees)).empty()) << "held";

  const auto ruled = root_says({job(1), 1}, AuditOutcome::differs, Refuted::steps);

  EXPECT_TRUE(std::ranges::any_of(every<NeedReplicas>(ruled), [&](const NeedReplicas& need) {
    return need.task == TaskId{job(1), 0};
  }));
}

// A worker runs a task alone and its result is held back. Then the late result of another worker
// differs.
TEST_F(AccomplicesTest, AResultThatIsHeldBackAndDisputedIsHeldBackOnce) {
  open();
  add(1, 2, 2);
  (void)run({job(1), 0}, 0, right, 1'000'000);
  (void)referee->leased({job(1), 1}, wallet(1), price, 1'000'000,
                        moment);  // The lease puts some of the stake at risk.
  (void)referee->leased({job(1), 1}, wallet(0), price, 1'000'000, moment);
  EXPECT_TRUE(every<Accepted>(root_says({job(1), 0}, AuditOutcome::agrees)).empty());
  (void)run({job(1), 0}, 2, wrong);
  (void)root_says({job(1), 0}, AuditOutcome::agrees);
  std::vector<Ruling> last = run({job(1), 1}, 1, right, 1'000'000);
  std::ranges::move(root_says({job(1), 1}, AuditOutcome::agrees), std::back_inserter(last));

  EXPECT_EQ(every<Accepted>(last).size() + (referee->votes().is_accepted({job(1), 0}) ? 1 : 0), 2U);
  EXPECT_EQ(referee->votes().accepted_count(job(1)), 2U) << "the job ends";
}

TEST_F(AccomplicesTest, ANewcomersTaskIsRunAsOftenAsItsClientAskedAndARootDecides) {
  open();
  add(1, 2);
  const TaskId task{job(1), 0};

  const auto first = run(task, 200, right, 1'000'000);
  ASSERT_EQ(every<NeedReplicas>(first).size(), 1U);
  EXPECT_EQ(every<NeedReplicas>(first)[0].replicas, 2U);
  EXPECT_TRUE(every<AuditWanted>(first).empty());
  const auto second = run(task, 201, right);

  EXPECT_EQ(every<AuditWanted>(second).size(), 1U);
  EXPECT_TRUE(every<Accepted>(second).empty());
  const auto accepted = every<Accepted>(root_says(task, AuditOutcome::agrees));
  ASSERT_EQ(accepted.size(), 1U);
  EXPECT_EQ(accepted[0].agreeing.size(), 2U);
}

// Before, a worker whose result differed from another worker's result, which a root then confirmed,
// lost only its pay.
TEST_F(AccomplicesTest, AResultThatARootsVerdictOnAnotherRefutesIsAMismatch) {
  open();
  add(1, 2);
  for (std::uint32_t index = 1; index < 30; ++index) {
    (void)run({job(1), index}, 2 + index, right, 1'000'000);
    (void)root_says({job(1), index}, AuditOutcome::agrees);
  }
  (void)run({job(1), 0}, 0, right);
  const auto wanted = every<AuditWanted>(run({job(1), 0}, 1, wrong));
  ASSERT_EQ(wanted.size(), 1U);
  ASSERT_EQ(wanted[0].root, outcome(right));

  const auto found = root_says({job(1), 0}, AuditOutcome::agrees);

  EXPECT_EQ(every<Accepted>(found).size(), 1U);
  const auto convicted = every<Convicted>(found);
  ASSERT_EQ(convicted.size(), 1U);
  EXPECT_EQ(convicted[0].worker, wallet(1));
  EXPECT_GE(convicted[0].penalty, 90 * price);
}

// The root computes the auditor's part. If it drew another part, it could agree with a result that
// is wrong only in the auditor's part, and the honest auditor would be convicted of lying.
TEST_F(AccomplicesTest, ARootComputesThePartThatAnAuditorCallsWrong) {
  open();
  add(1, 2);
  for (std::uint32_t index = 0; index < 20; ++index) {
    const TaskId task{job(1), index};
    const auto first = every<AuditWanted>(run(task, 0, wrong, 1'000'000));
    if (first.empty()) continue;  // No audit: the task gets a second replica.

    const auto again =
        every<AuditWanted>(referee->audited(task, wallet(1), AuditOutcome::differs, moment));

    ASSERT_EQ(again.size(), 1U);
    EXPECT_TRUE(again[0].dispute);
    EXPECT_EQ(again[0].part, first[0].part);
    EXPECT_EQ(again[0].samples, first[0].samples);
  }
}

TEST_F(AccomplicesTest, TheMoreOftenAResultIsWrongTheLongerAllAreCheckedWhole) {
  open();
  add(1, 1, 200);
  std::uint32_t index = 0;
  for (const std::uint32_t whole : {32U, 64U}) {
    (void)mismatch({job(1), index}, 0, 1);
    ++index;
    for (std::uint32_t i = 0; i < whole; ++i) {
      const auto wanted = every<AuditWanted>(run({job(1), index}, 0, right));
      ASSERT_EQ(wanted.size(), 1U);
      EXPECT_EQ(wanted[0].samples, 32U) << i;
      (void)root_says({job(1), index++}, AuditOutcome::agrees);
    }
    EXPECT_EQ(every<AuditWanted>(run({job(1), index}, 0, right))[0].samples, 1U);
    (void)root_says({job(1), index++}, AuditOutcome::agrees);
  }
}

// The referee is not told of a first lease if a job has one replica, or if no worker may run its
// tasks alone.
TEST_F(AccomplicesTest, AWorkerEarnsStandingInAJobWhosePriceIsKnown) {
  for (const bool known : {true, false}) {
    open();
    add(1);
    if (known) referee->set_value(job(1), price);
    const std::vector<Claim> claims{{.task = {job(1), 0}, .attempt = 1, .root = outcome(right)}};
    (void)referee->add_result(
        {.task = {job(1), 0}, .worker = wallet(200), .attempt = 1, .root = outcome(right)}, moment);
    (void)referee->add_receipt(wallet(200), claims, moment);
    (void)root_says({job(1), 0}, AuditOutcome::agrees);

    EXPECT_EQ(referee->book().verified(wallet(200), moment) > 0, known);
  }
}

TEST_F(AccomplicesTest, AKnownAnswerOfAClientsJobConvictsNoWorkerOfAnotherVendor) {
  open();
  Trap trap{.task = {job(1), 0}, .root = outcome(right), .value = price};
  EXPECT_EQ(every<Convicted>(referee->trap_answered(trap, wallet(0), false, moment)).size(), 1U)
      << "the operator knows the answer";

  trap.client = wallet(99);
  trap.by = {wallet(1), wallet(2)};
  for (std::uint8_t client = 0; client < 3; ++client) {
    trap.client->bytes[5] = client;
    EXPECT_TRUE(every<Convicted>(referee->trap_answered(trap, wallet(3), false, moment)).empty());
  }
}

}  // namespace
}  // namespace weft::trust
