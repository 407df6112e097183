// Tests when the worker, and not its device, is at fault for a wrong result: each way in which a
// second device can show it, and the stake that is locked until then. Polls are tested in
// accomplices_test.cpp.
#include "decisions/trust/device_fault.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <optional>

#include "decisions/trust/test_parts.h"

namespace weft::trust {
namespace {

constexpr std::uint8_t suspect = 1;

class DeviceFaultTest : public testing::Test {
 protected:
  explicit DeviceFaultTest(const RefereeSettings& settings = {}) : tables(settings) {
    const std::vector<std::pair<std::uint8_t, std::string>> vendors = {
        {suspect, "mesa"}, {2, "amd"}, {3, "nvidia"}, {4, "mesa"}, {5, "amd"}};
    for (const auto& [worker, vendor] : vendors)
      tables.standing.admissions().set_vendor(part_worker(worker), vendor);
    for (std::uint8_t worker = 2; worker <= 4; ++worker) tables.establish(worker);
    tables.standing.admissions().invite(part_worker(5), Invitation::worker);
  }
  // The verifier's device, of this vendor, finds the suspect's result or steps wrong.
  void found(std::uint32_t index, Devices devices, const std::string& vendor = "mesa",
             Refuted refuted = Refuted::result) {
    TaskCase& open = tables.cases.case_for(part_task(index), part_worker(suspect));
    open.value = 1000;
    open.finding = {.devices = devices,
                    .vendor = vendor,
                    .part = Part{.first = 0, .count = 1},
                    .refuted = refuted};
    tables.hand_in(index, suspect, 6);
    fault.note(part_task(index), part_worker(suspect), part_root(6), pass);
  }
  void settle(std::uint32_t index, std::vector<PublicKey> right, bool root_agrees = false,
              std::uint8_t accepted = 5) {
    auto node = tables.cases.at(part_task(index).job).cases.extract(index);
    ASSERT_FALSE(node.empty());
    node.mapped().root_agrees = root_agrees;
    fault.settle(node.mapped(),
                 {.task = part_task(index),
                  .root = part_root(accepted),
                  .worker = right.front(),
                  .agreeing = right},
                 pass);
  }
  [[nodiscard]] MicroCredits locked() const { return tables.stakes.locked(part_worker(suspect)); }

  PartTables tables;
  HeldResults held{tables};
  Convictions convictions{tables, held};
  DeviceFault fault{tables, convictions};
  RefereePass pass{.now = part_now};
};

TEST_F(DeviceFaultTest, ASecondDeviceIsOneOfAnotherMakerThanTheVerifiers) {
  struct Row {
    const char* what;
    Devices devices;
    std::string vendor;
    std::vector<std::uint8_t> right;
    bool seen_twice;
  };
  const std::vector<Row> rows = {
      {"the verifier has two", Devices::two, "mesa", {4}, true},
      {"the suspect's own, which must agree", Devices::one, "google", {4}, true},
      {"none", Devices::one, "mesa", {4}, false},
      {"an unknown vendor", Devices::one, "", {4}, false},
      {"one established worker's", Devices::one, "mesa", {2}, false},
      {"those of two established workers", Devices::one, "mesa", {2, 3}, true},
      {"an operator's worker's", Devices::one, "mesa", {5}, true},
      {"a newcomer's and an established worker's", Devices::one, "mesa", {2, 9}, false}};
  for (const Row& row : rows) {
    std::vector<PublicKey> right;
    for (const std::uint8_t worker : row.right) right.push_back(part_worker(worker));
    const Mismatch mismatch{.worker = part_worker(suspect),
                            .finding = {.devices = row.devices, .vendor = row.vendor}};

    EXPECT_EQ(fault.seen_twice(mismatch, right, part_now), row.seen_twice) << row.what;
  }
}

TEST_F(DeviceFaultTest, AMismatchIsLockedAndWatchedAndTwoDevicesMakeASuspect) {
  found(0, Devices::one);
  EXPECT_GT(locked(), 0);
  EXPECT_TRUE(tables.standing.watched(part_worker(suspect)));
  EXPECT_TRUE(only<Suspected>(pass).empty());

  found(1, Devices::two);

  ASSERT_EQ(only<Suspected>(pass).size(), 1U);
  EXPECT_EQ(only<Suspected>(pass)[0].task, part_task(1));
}

TEST_F(DeviceFaultTest, WhatTheVerifiersDevicesDisagreeOnCountsForNothing) {
  found(0, Devices::divided);

  settle(0, {part_worker(4)});

  EXPECT_EQ(locked(), 0);
  EXPECT_TRUE(only<Convicted>(pass).empty());
}

// The suspect's result, number 6, is accepted, so that it was right after all.
TEST_F(DeviceFaultTest, NothingCountsOfAWorkerWhoseOwnRootIsAccepted) {
  tables.standing.admissions().invite(part_worker(4), Invitation::worker);
  for (std::uint8_t client = 0; client < 2; ++client) {
    tables.cases.at(part_task(0).job).terms.client = part_worker(77 + client);
    found(client, Devices::two, "mesa", Refuted::steps);
    EXPECT_GT(locked(), 0);

    settle(client, {part_worker(4)}, true, 6);

    EXPECT_EQ(locked(), 0);
  }
  EXPECT_TRUE(only<Convicted>(pass).empty());
  EXPECT_TRUE(only<PollWanted>(pass).empty());
}

// An accomplice's equal result that is accepted does not save the suspect.
TEST_F(DeviceFaultTest, AWrongResultCountsEvenIfAnEqualOneIsAccepted) {
  tables.standing.admissions().invite(part_worker(4), Invitation::worker);
  for (std::uint8_t client = 0; client < 2; ++client) {
    tables.cases.at(part_task(0).job).terms.client = part_worker(77 + client);
    found(client, Devices::two);
    settle(client, {part_worker(4)}, true, 6);
  }

  EXPECT_EQ(only<Convicted>(pass).size(), 1U);
}

TEST_F(DeviceFaultTest, WrongStepsOfAWrongResultCountAsTheResultDoes) {
  tables.standing.admissions().invite(part_worker(4), Invitation::worker);
  for (std::uint8_t client = 0; client < 2; ++client) {
    tables.cases.at(part_task(0).job).terms.client = part_worker(77 + client);
    found(client, Devices::two, "mesa", Refuted::steps);
    settle(client, {part_worker(4)});
  }

  ASSERT_EQ(only<Convicted>(pass).size(), 1U);
  EXPECT_EQ(only<Convicted>(pass)[0].worker, part_worker(suspect));
}

// The lead of a vendor is the number of its right results less twice the number of its wrong ones.
// A poll begins at a lead of 8: ten owners that are right suffice if one result is wrong, not if
// two are.
TEST_F(DeviceFaultTest, WrongStepsOfARightResultAreNotAmongWhatTheVendorGotWrong) {
  for (const std::uint8_t accepted : std::array<std::uint8_t, 2>{6, 5}) {
    const std::uint32_t first = accepted == 6 ? 0 : 4;
    // An established worker with a device of the suspect's vendor.
    const PublicKey other = part_worker(4);
    TaskCase& open = tables.cases.case_for(part_task(first), other);
    open.value = 1000;
    open.finding = {.devices = Devices::two, .vendor = "mesa", .refuted = Refuted::steps};
    tables.hand_in(first, 4, 6);
    fault.note(part_task(first), other, part_root(6), pass);
    settle(first, {part_worker(2)}, false, accepted);
    tables.establish(suspect);
    found(first + 1, Devices::two);
    settle(first + 1, {part_worker(2)});
    std::vector<PublicKey> right;
    for (std::uint8_t worker = 100; worker < 110; ++worker) {
      tables.standing.admissions().set_vendor(part_worker(worker), "mesa");
      tables.establish(worker);
      right.push_back(part_worker(worker));
    }
    pass.out.clear();

    fault.note_right(part_task(0).job, right, pass);

    EXPECT_EQ(only<PollWanted>(pass).size(), accepted == 6 ? 1U : 0U);
    fault.remove_job(part_task(0).job);
  }
}

TEST_F(DeviceFaultTest, AnOperatorsWorkerOfTheSameVendorMakesItCountAndTwoClientsConvict) {
  tables.standing.admissions().invite(part_worker(4), Invitation::worker);
  found(0, Devices::two);
  settle(0, {part_worker(4)});
  EXPECT_TRUE(only<Convicted>(pass).empty()) << "one client may have written it";
  EXPECT_GT(locked(), 0);

  tables.cases.at(part_task(0).job).terms.client = part_worker(77);
  found(1, Devices::two);
  settle(1, {part_worker(4)});

  ASSERT_EQ(only<Convicted>(pass).size(), 1U);
  EXPECT_EQ(only<Convicted>(pass)[0].worker, part_worker(suspect));
  EXPECT_EQ(locked(), 0);
}

TEST_F(DeviceFaultTest, WhatNoWorkerOfTheVendorHasConfirmedCostsNothingWhenTheJobEnds) {
  found(0, Devices::two);
  settle(0, {part_worker(2)});
  EXPECT_GT(locked(), 0);

  fault.remove_job(part_task(0).job);

  EXPECT_EQ(locked(), 0);
}

TEST_F(DeviceFaultTest, AnAuditorWhoseReportIsRefutedIsAMismatchAndIsNotConvicted) {
  TaskCase& closed = tables.cases.case_for(part_task(0), part_worker(9));
  closed.value = 1000;
  closed.accuser = part_worker(suspect);

  fault.note_refuted(part_task(0), closed, pass);

  EXPECT_TRUE(only<Convicted>(pass).empty()) << "its device may be the cause";
  ASSERT_EQ(closed.mismatches.size(), 1U);
  EXPECT_EQ(closed.mismatches[0].worker, part_worker(suspect));
  EXPECT_GT(locked(), 0);
}

// Established owners from 10 on have devices of the suspect's vendor.
class DevicePolls : public DeviceFaultTest {
 protected:
  static constexpr std::uint8_t first_owner = 10;
  static constexpr std::uint8_t owners = 40;

  explicit DevicePolls(const RefereeSettings& settings = {}) : DeviceFaultTest(settings) {
    for (std::uint8_t worker = first_owner; worker < first_owner + owners; ++worker) {
      tables.establish(worker);
      tables.standing.admissions().set_vendor(part_worker(worker), "mesa");
    }
    tables.standing.book().confirm(part_worker(suspect), 1, part_now);
  }
  // The suspect is wrong in this task, on two devices.
  void be_wrong(std::uint32_t index) {
    found(index, Devices::two);
    settle(index, {part_worker(2)});
  }
  // A root finds the results of `count` workers right, beginning with worker `first`.
  void be_right(std::uint8_t count, std::uint8_t first = first_owner) {
    std::vector<PublicKey> workers;
    for (std::uint8_t i = 0; i < count; ++i)
      workers.push_back(part_worker(static_cast<std::uint8_t>(first + i)));
    fault.note_right(part_task(0).job, workers, pass);
  }
  void answer(std::uint32_t index, std::uint8_t worker,
              AuditOutcome outcome = AuditOutcome::agrees) {
    fault.polled(part_task(index), part_worker(suspect), part_worker(worker), outcome, pass);
  }
  [[nodiscard]] bool counts(std::uint32_t index) const {
    return tables.stakes.keeps_mismatch(part_worker(suspect), part_task(index));
  }
  [[nodiscard]] std::vector<PollWanted> polls() const { return only<PollWanted>(pass); }
};

TEST_F(DevicePolls, BeginWhenEightMoreOwnersThanTwiceTheWrongOnesHaveTheJobRight) {
  be_wrong(0);
  be_right(9);
  EXPECT_TRUE(polls().empty());

  be_right(1, first_owner + 9);

  ASSERT_EQ(polls().size(), 1U);
  EXPECT_EQ(polls()[0].count, 11U);
  EXPECT_EQ(polls()[0].vendor, "mesa");
}

TEST_F(DevicePolls, OwnersWithoutStandingGiveNoLead) {
  be_wrong(0);
  for (std::uint8_t worker = 100; worker < 120; ++worker)
    tables.standing.admissions().set_vendor(part_worker(worker), "mesa");

  be_right(20, 100);

  EXPECT_TRUE(polls().empty());
}

TEST_F(DevicePolls, AMismatchCountsWhenElevenOwnersHaveThePartRight) {
  be_wrong(0);
  be_right(10);
  for (std::uint8_t i = 0; i < 10; ++i) answer(0, static_cast<std::uint8_t>(first_owner + i));
  EXPECT_FALSE(counts(0));

  answer(0, first_owner + 10);

  EXPECT_TRUE(counts(0));
  EXPECT_TRUE(only<Convicted>(pass).empty()) << "of one client";
}

TEST_F(DevicePolls, AnOwnerAnswersOnceAndAnotherIsAskedInItsPlace) {
  be_wrong(0);
  be_right(10);
  for (std::uint8_t i = 0; i < 10; ++i) answer(0, static_cast<std::uint8_t>(first_owner + i));

  answer(0, first_owner);  // The worker answers a second time.

  EXPECT_FALSE(counts(0));
  ASSERT_EQ(polls().size(), 2U);
  EXPECT_EQ(polls()[1].count, 1U);
}

// The suspect comes back and claims a device of another vendor.
TEST_F(DevicePolls, AreOfTheVendorThatTheSuspectHadWhenItWasWrong) {
  be_wrong(0);
  be_right(10);
  ASSERT_EQ(polls().size(), 1U);

  tables.standing.admissions().set_vendor(part_worker(suspect), "other");

  for (std::uint8_t i = 0; i < 11; ++i) answer(0, static_cast<std::uint8_t>(first_owner + i));
  EXPECT_TRUE(counts(0));
}

TEST_F(DevicePolls, AWorkerThatHasLostItsStandingIsMissing) {
  be_wrong(0);
  be_right(10);
  for (std::uint8_t i = 0; i < 10; ++i) answer(0, static_cast<std::uint8_t>(first_owner + i));

  answer(0, 200);

  EXPECT_FALSE(counts(0));
  EXPECT_EQ(polls().size(), 1U);
  EXPECT_EQ(locked(), 0) << "the poll has come to nothing";
}

TEST_F(DevicePolls, GoOneAfterTheOtherAndNoFurtherThanTwoTasksParts) {
  for (std::uint32_t index = 0; index < 8; ++index) be_wrong(index);
  be_right(10);

  for (std::size_t poll = 0; poll < 8 && poll < polls().size(); ++poll) {
    be_right(1);
    EXPECT_EQ(polls().size(), poll + 1) << "one at a time";
    const auto index = polls()[poll].task.index;
    for (std::uint8_t i = 0; i < 11; ++i) answer(index, static_cast<std::uint8_t>(first_owner + i));
  }

  EXPECT_EQ(polls().size(), 6U) << "6 times 11 parts are more than twice 32";
}

TEST_F(DevicePolls, AreOverForAVendorOfWhichFiveMoreDifferFromTheRoot) {
  be_wrong(0);
  be_wrong(1);
  be_right(10);

  for (std::uint8_t i = 0; i < 5; ++i)
    answer(0, static_cast<std::uint8_t>(first_owner + i), AuditOutcome::differs);

  EXPECT_EQ(locked(), 0) << "the right answer may differ by device";
  be_wrong(2);
  be_right(20, first_owner + 10);
  EXPECT_EQ(polls().size(), 1U);
  EXPECT_EQ(locked(), 0);
}

// Polls are switched off: only the lead in the job counts.
class DeviceLead : public DevicePolls {
 protected:
  static RefereeSettings without_polls() {
    RefereeSettings settings;
    settings.defences.part_lead_to_count = 0;
    return settings;
  }
  DeviceLead() : DevicePolls(without_polls()) {}
};

TEST_F(DeviceLead, WithoutPollsAMismatchCountsAtALeadOfEightInTheJobAndConvictsAtSixteen) {
  be_wrong(0);
  be_right(9);
  EXPECT_FALSE(counts(0));

  be_right(1, first_owner + 9);
  EXPECT_TRUE(counts(0));
  EXPECT_TRUE(only<Convicted>(pass).empty());
  be_right(7, first_owner + 10);
  EXPECT_TRUE(only<Convicted>(pass).empty());

  be_right(1, first_owner + 17);

  EXPECT_EQ(only<Convicted>(pass).size(), 1U);
  EXPECT_TRUE(polls().empty());
}

// Two convictions would double the suspension twice. One conviction takes the stake that is locked
// for both mismatches.
TEST_F(DeviceLead, TwoWrongResultsThatOneEventShowsConvictOnceForBoth) {
  be_wrong(0);
  be_wrong(1);
  const MicroCredits both = locked();

  be_right(18);

  ASSERT_EQ(only<Convicted>(pass).size(), 1U);
  EXPECT_EQ(only<Convicted>(pass)[0].penalty, both);
  EXPECT_EQ(locked(), 0);
}

TEST_F(DeviceLead, AResultThatSettlesTheOneAndShowsTheOtherConvictsOnce) {
  be_wrong(0);
  convictions.restore_mismatch(
      part_worker(suspect),
      {.client = part_worker(88), .task = part_task(7), .at = part_now, .penalty = 5});
  tables.standing.admissions().invite(part_worker(4), Invitation::worker);
  found(1, Devices::two);
  const MicroCredits all = locked();
  std::vector<PublicKey> right = {part_worker(4)};
  for (std::uint8_t i = 0; i < 18; ++i)
    right.push_back(part_worker(static_cast<std::uint8_t>(first_owner + i)));

  settle(1, right, true);

  ASSERT_EQ(only<Convicted>(pass).size(), 1U);
  EXPECT_EQ(only<Convicted>(pass)[0].penalty, all);
}

// A new process that gets the stored state of the job. All wallets are as they were; the suspect
// has not come back, so that its vendor is known only from the stored state.
class DeviceFaultRestarts : public DevicePolls {
 protected:
  struct Restarted {
    explicit Restarted(std::uint8_t owners_here) {
      for (std::uint8_t worker = first_owner; worker < first_owner + owners_here; ++worker) {
        tables.establish(worker);
        tables.standing.admissions().set_vendor(part_worker(worker), "mesa");
      }
      tables.standing.book().confirm(part_worker(suspect), 1, part_now);
    }
    void be_right(std::uint8_t worker) {
      fault.note_right(part_task(0).job, std::array{part_worker(worker)}, pass);
    }

    PartTables tables;
    HeldResults held{tables};
    Convictions convictions{tables, held};
    DeviceFault fault{tables, convictions};
    RefereePass pass{.now = part_now};
  };

  std::unique_ptr<Restarted> restart() {
    auto after = std::make_unique<Restarted>(owners);
    for (auto& [job, state] : fault.take_changed()) stored[job] = std::move(state);
    if (const auto& state = stored[part_task(0).job]; state) {
      EXPECT_TRUE(after->fault.restore(part_task(0).job, *state, after->pass).has_value());
    }
    return after;
  }

  std::map<JobId, std::optional<ByteVector>> stored;
};

TEST_F(DeviceFaultRestarts, APollGoesOnWhereItWas) {
  be_wrong(0);
  be_right(10);
  for (std::uint8_t i = 0; i < 6; ++i) answer(0, static_cast<std::uint8_t>(first_owner + i));
  const MicroCredits before = locked();
  ASSERT_GT(before, 0);

  const auto after = restart();

  EXPECT_EQ(after->tables.stakes.locked(part_worker(suspect)), before);
  EXPECT_TRUE(only<PollWanted>(after->pass).empty()) << "no worker may be here yet";
  after->be_right(first_owner);
  const auto polls = only<PollWanted>(after->pass);
  ASSERT_EQ(polls.size(), 1U);
  EXPECT_EQ(polls[0].count, 5U) << "six have answered";
  EXPECT_EQ(polls[0].vendor, "mesa");
  EXPECT_EQ(polls[0].except.size(), 7U) << "they and the suspect";
  EXPECT_EQ(polls[0].part, (Part{.first = 0, .count = 1}));
  for (std::uint8_t i = 10; i < 15; ++i)
    after->fault.polled(part_task(0), part_worker(suspect),
                        part_worker(static_cast<std::uint8_t>(first_owner + i)),
                        AuditOutcome::agrees, after->pass);
  EXPECT_TRUE(after->tables.stakes.keeps_mismatch(part_worker(suspect), part_task(0)));
}

TEST_F(DeviceFaultRestarts, WhatWasCountedIsNotCountedTwice) {
  be_wrong(0);
  be_wrong(1);
  be_right(10);
  for (const std::uint32_t index : {0U, 1U}) {
    for (std::uint8_t i = 0; i < 11; ++i) answer(index, static_cast<std::uint8_t>(first_owner + i));
    ASSERT_TRUE(counts(index));
    be_right(1);
  }
  const auto rows = tables.standing.evidence().take_changed_mismatches();
  ASSERT_EQ(rows.size(), 1U);
  auto after = std::make_unique<Restarted>(owners);
  after->convictions.restore_mismatch(part_worker(suspect), rows[0].row);
  for (auto& [job, state] : fault.take_changed())
    ASSERT_TRUE(after->fault.restore(job, *state, after->pass).has_value());
  EXPECT_EQ(after->tables.stakes.locked(part_worker(suspect)), locked());

  for (std::uint8_t i = 10; i < 20; ++i)
    after->be_right(static_cast<std::uint8_t>(first_owner + i));

  const auto convicted = only<Convicted>(after->pass);
  ASSERT_EQ(convicted.size(), 1U) << "a lead of 16 in the job";
  EXPECT_EQ(convicted[0].penalty, rows[0].row.penalty);
}

TEST_F(DeviceFaultRestarts, AWrongResultWhoseTaskIsStillOpenCounts) {
  found(0, Devices::two);
  const MicroCredits before = locked();

  const auto after = restart();

  EXPECT_EQ(after->tables.stakes.locked(part_worker(suspect)), before);
  ASSERT_EQ(after->pass.todo.size(), 1U);
  ASSERT_TRUE(std::holds_alternative<NeedReplicas>(after->pass.todo.front()))
      << "as it was asked for before";
  after->tables.standing.admissions().invite(part_worker(first_owner), Invitation::worker);
  TaskCase closed = *after->tables.cases.case_of(part_task(0));
  after->fault.settle(closed,
                      {.task = part_task(0),
                       .root = part_root(5),
                       .worker = part_worker(first_owner),
                       .agreeing = {part_worker(first_owner)}},
                      after->pass);
  EXPECT_TRUE(after->tables.stakes.keeps_mismatch(part_worker(suspect), part_task(0)));
}

TEST_F(DeviceFaultRestarts, AVendorThatWasFoundToDifferStaysOutOfTheJob) {
  be_wrong(0);
  be_right(10);
  for (std::uint8_t i = 0; i < 5; ++i)
    answer(0, static_cast<std::uint8_t>(first_owner + i), AuditOutcome::differs);

  const auto after = restart();

  TaskCase& open = after->tables.cases.case_for(part_task(1), part_worker(suspect));
  open.value = 1000;
  open.finding = {.devices = Devices::two, .vendor = "mesa", .part = Part{.first = 0, .count = 1}};
  after->tables.standing.admissions().set_vendor(part_worker(suspect), "mesa");
  after->tables.hand_in(1, suspect, 6);
  after->fault.note(part_task(1), part_worker(suspect), part_root(6), after->pass);
  after->fault.settle(TaskCase(open),
                      {.task = part_task(1),
                       .root = part_root(5),
                       .worker = part_worker(2),
                       .agreeing = {part_worker(2)}},
                      after->pass);
  for (std::uint8_t i = 0; i < 20; ++i) after->be_right(static_cast<std::uint8_t>(first_owner + i));
  EXPECT_TRUE(only<PollWanted>(after->pass).empty());
  EXPECT_EQ(after->tables.stakes.locked(part_worker(suspect)), 0);
}

TEST_F(DeviceFaultRestarts, NothingIsStoredOfAJobBeforeItsFirstWrongResultAndAfterItsEnd) {
  be_right(9);
  answer(0, first_owner);
  EXPECT_TRUE(fault.take_changed().empty());
  be_wrong(0);
  const auto first = fault.take_changed();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_TRUE(first[0].state.has_value());
  be_right(9);
  EXPECT_TRUE(fault.take_changed().empty()) << "no owner is new";
  be_right(10);
  EXPECT_EQ(fault.take_changed().size(), 1U) << "a poll begins";
  answer(0, first_owner);
  EXPECT_EQ(fault.take_changed().size(), 1U) << "an answer";
  be_right(1, first_owner + 10);
  EXPECT_EQ(fault.take_changed().size(), 1U) << "one more is right";

  fault.remove_job(part_task(0).job);
  tables.cases.remove_job(part_task(0).job);

  const auto last = fault.take_changed();
  ASSERT_EQ(last.size(), 1U);
  EXPECT_FALSE(last[0].state.has_value());
  EXPECT_TRUE(fault.take_changed().empty());
}

TEST_F(DeviceFaultRestarts, BytesThatAreSomethingElseAreRefused) {
  const auto refused = fault.restore(part_task(0).job, ByteVector{1, 2, 3}, pass);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::data_loss);
}

}  // namespace
}  // namespace weft::trust
