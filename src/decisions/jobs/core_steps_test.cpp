// Tests checks of drawn groups of steps, event by event: which leases ask for roots, when a worker
// is asked for states, what follows from its answer or its silence, and that a restart changes none
// of these.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "common/manifest/step_groups.h"
#include "decisions/jobs/checkpoints.h"
#include "decisions/jobs/state_requests.h"
#include "decisions/jobs/state_room.h"
#include "decisions/jobs/test_core.h"
#include "decisions/jobs/verification_leases.h"

namespace weft::jobs {
namespace {

using std::chrono::seconds;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint32_t steps = 8;
constexpr std::uint8_t stranger = 1;  // A newcomer with three confirmed results: two groups.
constexpr std::uint8_t other = 2;     // Also a newcomer with three confirmed results.
constexpr std::uint8_t trusted = 3;   // Established: one group.

std::string steps_manifest(std::uint32_t tasks = 1, std::uint32_t replicas = 1) {
  std::string list;
  for (std::uint32_t i = 0; i < steps; ++i)
    list += weft::format(R"({}{{"entry":"main","dispatch":[{}]}})", i == 0 ? "" : ",",
                         std::max(8U, tasks));
  return weft::format(
      R"({{"weft":1,"kind":"wgsl","name":"steps","shader":{{"inline":"fn main() {{}}"}},"steps":[{}],
    "bindings":[{{"binding":0,"role":"output","type":"u32","shape":[4]{}}}],
    "split":{{"axis":"x","tasks":{}}},"verify":{{"compare":"exact","replicas":{}}},"budget":1000}})",
      list, tasks > 1 ? R"(,"combine":"concat")" : "", tasks, replicas);
}

Hash root_number(std::uint8_t number) {
  Hash hash;
  hash.bytes[1] = number;
  return hash;
}
std::vector<Hash> roots(std::uint8_t changed = 0) {
  std::vector<Hash> made;
  for (std::uint8_t i = 1; i < steps; ++i) made.push_back(root_number(i));
  made[2].bytes[5] = changed;
  return made;
}

// Notes which rows were handed to the store when a worker was asked for states.
class Core : public CoreAlone {
 public:
  using CoreAlone::CoreAlone;
  void send(SessionId session, protocol::CoordinatorMessage message) override {
    if (std::holds_alternative<protocol::OpenStates>(message))
      rows_before.push_back(stored.replicas.size());
    CoreAlone::send(session, std::move(message));
  }
  std::vector<std::size_t> rows_before;
};

class CoreSteps : public testing::Test {
 protected:
  static void known(Restored& restored, std::uint8_t number, double verified) {
    restored.rows.standings.push_back(
        {.worker = CoreAlone::worker(number), .verified = verified, .updated = 1'000'000'000'000});
  }
  void open(Restored restored = {}) {
    known(restored, stranger, 3);
    known(restored, other, 3);
    known(restored, trusted, 1000);
    alone = std::make_unique<Core>(std::move(restored), CoreAlone::Verifier::here,
                                   CoreAlone::Count::levels);
  }
  JobId submit(std::uint32_t tasks = 1, std::uint32_t replicas = 1) {
    const auto made = CoreAlone::submission(steps_manifest(tasks, replicas));
    const auto answer = alone->submit(made);
    EXPECT_TRUE(answer.has_value()) << answer.error().message;
    alone->pass(seconds(1));
    return made.id;
  }
  [[nodiscard]] std::uint32_t whole_task() const {
    return alone->measurements.empty() ? 1 : alone->measurements.back().range.count;
  }
  // Reports that the verifier takes `task_seconds` for a task.
  void measure(const JobId& job, double task_seconds) {
    alone->core().checks().measured(job,
                                    scheduler::Measurement{.workgroups = whole_task(),
                                                           .gpu_seconds = task_seconds,
                                                           .elapsed_seconds = task_seconds,
                                                           .rate = 1},
                                    alone->now);
    alone->pass(seconds(1));
  }
  protocol::Lease lease_of(std::uint8_t number) const {
    const auto leases = alone->told<protocol::Lease>(number);
    EXPECT_THAT(leases, testing::Not(IsEmpty())) << static_cast<int>(number);
    return leases.empty() ? protocol::Lease{} : leases.back();
  }
  void deliver(std::uint8_t number, const std::vector<Hash>& step_roots, std::size_t at = 0,
               std::uint8_t byte = 5) {
    const protocol::Lease lease = lease_of(number);
    ASSERT_GT(lease.tasks.size(), at);
    alone->deliver(number, lease, lease.tasks[at], ByteVector(16, byte), step_roots);
  }
  // A job whose only task a worker has delivered with these roots.
  JobId delivered(std::uint8_t number = stranger, const std::vector<Hash>& step_roots = roots()) {
    open();
    const JobId job = submit();
    alone->arrive(stranger);
    measure(job, 1);
    // A trusted worker would run the canary, and its first lease would not know the time of a task.
    if (number != stranger) {
      alone->core().sessions().left(SessionId(stranger), true, alone->now);
      alone->arrive(number);
    }
    deliver(number, step_roots);
    return job;
  }
  std::vector<protocol::OpenStates> asked(std::uint8_t number = stranger) const {
    return alone->told<protocol::OpenStates>(number);
  }
  // The worker answers with a state for each group.
  SentStates answer_to(const protocol::OpenStates& open, std::uint8_t number = stranger) const {
    SentStates sent{.session = SessionId(number), .told = {}, .is_stored = {}};
    sent.told.task = open.task;
    sent.told.attempt = open.attempt;
    for (const std::uint32_t group : open.groups) {
      const std::uint64_t bytes =
          state_bytes(*CoreAlone::submission(steps_manifest()).manifest, open.task.index);
      sent.told.states.push_back({.group = group,
                                  .blob = root_number(static_cast<std::uint8_t>(100 + group)),
                                  .bytes = bytes});
      sent.is_stored.push_back(true);
    }
    return sent;
  }
  void send(const SentStates& sent) {
    alone->core().checks().states_sent(sent, alone->now);
    alone->run();
  }
  void answer(const Checked& checked) {
    const VerifyOrder order = alone->verifications.back();
    alone->core().checks().verified(order.task, order.root, checked, alone->now);
    alone->run();
  }
  std::vector<Hash> blobs_of(const SentStates& sent) const {
    std::vector<Hash> blobs;
    for (const auto& state : sent.told.states) blobs.push_back(state.blob);
    return blobs;
  }
  static Checked late() { return {.reason = "It took too long.", .late = true, .of_steps = true}; }

  std::unique_ptr<Core> alone;
};

// --- Which leases ask for roots.

TEST_F(CoreSteps, ALeaseAsksForRootsIfAWholeCheckTakesLongOrRootsCostNothing) {
  for (const auto& [task_seconds, asks] :
       {std::pair(1e-5, false), std::pair(1.0, true), std::pair(6.0, true)}) {
    open();
    alone->arrive(stranger);
    measure(submit(), task_seconds);

    EXPECT_EQ(lease_of(stranger).tasks.at(0).step_roots, asks) << task_seconds;
  }
}

TEST_F(CoreSteps, AWorkerOfAnOlderVersionIsNotAskedAndItsResultIsCheckedWhole) {
  open();
  alone->versions = {7};
  alone->arrive(stranger);
  measure(submit(), 1);
  EXPECT_FALSE(lease_of(stranger).tasks.at(0).step_roots);

  deliver(stranger, roots());

  EXPECT_THAT(asked(), IsEmpty());
  ASSERT_THAT(alone->verifications, SizeIs(1));
  EXPECT_THAT(alone->verifications[0].groups, IsEmpty()) << "roots that no lease asked for";
  EXPECT_THAT(alone->stored.replicas.at(0).steps, IsEmpty());
}

TEST_F(CoreSteps, TheOperatorsWorkersAreNotAsked) {
  open();
  alone->invitation = trust::Invitation::worker;
  alone->arrive(stranger);
  measure(submit(), 1);

  EXPECT_FALSE(lease_of(stranger).tasks.at(0).step_roots);
}

TEST_F(CoreSteps, AWorkerWithMistakesIsNotAsked) {
  Restored restored;
  restored.rows.watches.push_back(
      {.worker = CoreAlone::worker(stranger), .checks = 0, .mistakes = 1, .passes = 0});
  open(std::move(restored));
  alone->arrive(stranger);
  measure(submit(), 1);

  EXPECT_FALSE(lease_of(stranger).tasks.at(0).step_roots)
      << "wrong steps of right results cost the verifier one watch";
}

TEST_F(CoreSteps, ATaskThatContinuesFromACheckpointIsNotAsked) {
  open();
  alone->arrive(stranger);
  const JobId job = submit();
  measure(job, 1);
  SavedState saved{.session = SessionId(stranger), .told = {}, .is_stored = true};
  saved.told = {.task = {.job = job, .index = 0},
                .attempt = lease_of(stranger).tasks.at(0).attempt,
                .blob = root_number(50),
                .bytes = 10,
                .done = 4,
                .of = steps,
                .stopped = true};
  alone->core().checkpoints().saved(saved, alone->now);
  alone->pass(seconds(1));

  const protocol::Lease again = lease_of(stranger);
  ASSERT_THAT(again.resume, SizeIs(1));
  EXPECT_FALSE(again.tasks.at(0).step_roots) << "it has no states before the checkpoint";
}

// --- The draw and the request.

TEST_F(CoreSteps, StatesAreAskedForWhenTheRootsAreStoredAndTheGroupsAreThenComputed) {
  const JobId job = delivered();

  ASSERT_THAT(asked(), SizeIs(1));
  EXPECT_THAT(alone->verifications, IsEmpty()) << "the states are missing";
  EXPECT_EQ(alone->rows_before, (std::vector<std::size_t>{1})) << "the roots are durable";
  EXPECT_EQ(alone->stored.replicas.at(0).steps, roots());
  const protocol::OpenStates open = asked()[0];
  EXPECT_EQ(open.task, (TaskId{.job = job, .index = 0}));
  EXPECT_LE(open.groups.size(), 2U);
  EXPECT_THAT(open.groups, Each(testing::Gt(0U))) << "the coordinator has the first state";

  send(answer_to(open));

  ASSERT_THAT(alone->verifications, SizeIs(1));
  const VerifyOrder& order = alone->verifications[0];
  ASSERT_THAT(order.groups, SizeIs(2)) << "8 / (1 + 3)";
  for (const auto& group : order.groups) {
    EXPECT_EQ(group.count, 1U);
    EXPECT_EQ(group.after, group.first == steps - 1 ? order.root : roots()[group.first]);
    EXPECT_EQ(group.state.has_value(), group.first > 0);
    if (group.first > 0) {
      EXPECT_EQ(group.before, roots()[group.first - 1]);
      EXPECT_EQ(group.state->hash, root_number(static_cast<std::uint8_t>(100 + group.first)));
    }
  }

  answer({.outcome = trust::AuditOutcome::agrees, .of_steps = true});

  EXPECT_THAT(alone->stored.tasks, SizeIs(1));
  EXPECT_EQ(alone->forgotten, blobs_of(answer_to(open))) << "the check has ended";
}

TEST_F(CoreSteps, AnEstablishedWorkersResultIsCheckedInOneGroup) {
  (void)delivered(trusted);

  std::size_t groups = asked(trusted).empty() ? 0 : asked(trusted)[0].groups.size();
  if (groups == 0) groups = alone->verifications.at(0).groups.size();
  EXPECT_EQ(groups, 1U);
}

TEST_F(CoreSteps, AFirstResultIsCheckedWholeWithoutAnyState) {
  open();
  alone->arrive(9);
  measure(submit(), 1);
  deliver(9, roots());

  EXPECT_THAT(asked(9), IsEmpty());
  ASSERT_THAT(alone->verifications, SizeIs(1));
  EXPECT_THAT(alone->verifications[0].groups, IsEmpty());
}

TEST_F(CoreSteps, ANumberOfRootsThatDoesNotFitIsNone) {
  std::vector<Hash> few = roots();
  few.pop_back();
  (void)delivered(stranger, few);

  EXPECT_THAT(asked(), IsEmpty());
  ASSERT_THAT(alone->verifications, SizeIs(1));
  EXPECT_THAT(alone->verifications[0].groups, IsEmpty());
}

// --- Answers and silence.

TEST_F(CoreSteps, SilenceLosesTheLeaseAndChangesNoStanding) {
  const JobId job = delivered();
  alone->arrive(other);
  alone->arrive(trusted);
  alone->pass(seconds(29));
  EXPECT_THAT(alone->told<protocol::Verdict>(stranger), IsEmpty());
  const auto standings = alone->stored.standings.size();

  alone->pass(seconds(2));

  const auto verdicts = alone->told<protocol::Verdict>(stranger);
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_FALSE(verdicts[0].accepted);
  EXPECT_EQ(alone->stored.standings.size(), standings);
  EXPECT_THAT(alone->stored.watches, IsEmpty()) << "no result was found wrong";
  EXPECT_EQ(lease_of(trusted).job, job) << "the task goes to a trusted worker next";
  EXPECT_THAT(alone->told<protocol::Lease>(other), IsEmpty());
  ASSERT_THAT(alone->stored.checks, SizeIs(1));
  EXPECT_EQ(alone->stored.checks[0].outcome, store::Check::Outcome::failed);

  send(answer_to(asked()[0]));
  EXPECT_THAT(alone->verifications, IsEmpty()) << "too late";
}

TEST_F(CoreSteps, AStateThatTheWorkerDoesNotHaveHasTheWholeTaskChecked) {
  (void)delivered();
  SentStates sent = answer_to(asked().at(0));
  sent.told.states.back().bytes = 0;
  sent.is_stored.back() = false;

  send(sent);

  ASSERT_THAT(alone->verifications, SizeIs(1));
  EXPECT_THAT(alone->verifications[0].groups, IsEmpty());
  answer({.outcome = trust::AuditOutcome::differs, .wrong = manifest::Range{0, 4}});
  EXPECT_FALSE(alone->told<protocol::Verdict>(stranger).at(0).accepted)
      << "a worker gains nothing by saying so of a wrong group";
}

TEST_F(CoreSteps, AStateThatTheWorkerDoesNotHaveLosesTheLeaseIfTheTaskTakesTooLong) {
  (void)delivered();
  SentStates sent = answer_to(asked().at(0));
  sent.is_stored.assign(sent.is_stored.size(), false);
  send(sent);
  for (const int pause : {10, 20, 40}) {
    answer(late());
    alone->pass(seconds(pause));
    EXPECT_THAT(alone->told<protocol::Verdict>(stranger), IsEmpty()) << pause;
  }

  answer(late());

  ASSERT_THAT(alone->told<protocol::Verdict>(stranger), SizeIs(1));
  EXPECT_THAT(alone->stored.watches, IsEmpty());
}

// If two established workers agree, their agreement decides where the verifier cannot check it.
TEST_F(CoreSteps, TwoThatAgreeDoNotDecideBecauseTheySendNoStates) {
  constexpr std::uint8_t partner = 4;
  std::vector<protocol::OpenStates> requests;
  std::uint8_t suspect = trusted;
  for (std::uint8_t changed = 0; requests.empty(); ++changed) {
    ASSERT_LT(changed, 20) << "the first group is drawn each time";
    Restored restored;
    known(restored, partner, 1000);
    open(std::move(restored));
    alone->arrive(stranger);
    measure(submit(1, 2), 1);
    alone->core().sessions().left(SessionId(stranger), true, alone->now);
    alone->arrive(trusted);
    alone->arrive(partner);
    alone->pass(seconds(1));
    deliver(trusted, roots(changed));
    deliver(partner, roots(changed));
    suspect = asked(trusted).empty() ? partner : trusted;
    requests = asked(suspect);
  }
  SentStates none = answer_to(requests[0], suspect);
  none.is_stored.assign(none.is_stored.size(), false);
  send(none);
  for (const int pause : {10, 20, 40}) {
    answer(late());
    alone->pass(seconds(pause));
  }

  answer(late());

  EXPECT_TRUE(alone->stored.tasks.empty());
  ASSERT_THAT(alone->told<protocol::Verdict>(suspect), SizeIs(1));
  EXPECT_FALSE(alone->told<protocol::Verdict>(suspect)[0].accepted);
}

TEST_F(CoreSteps, AnswersThatDoNotFitTheRequestAreNoStates) {
  const auto whole_after = [&](const std::function<void(SentStates&)>& change) {
    (void)delivered();
    SentStates sent = answer_to(asked().at(0));
    change(sent);
    send(sent);
    return alone->verifications.size() == 1 && alone->verifications[0].groups.empty();
  };

  EXPECT_TRUE(whole_after([](SentStates& sent) { sent.told.states.clear(); }));
  EXPECT_TRUE(whole_after([](SentStates& sent) { sent.told.states[0].group = 0; }));
  EXPECT_TRUE(whole_after([](SentStates& sent) { sent.told.states[0].bytes += 1; }))
      << "a blob of another size";
  EXPECT_TRUE(whole_after([](SentStates& sent) { sent.is_stored[0] = false; }))
      << "a blob of another job or task";
}

TEST_F(CoreSteps, AnswersOfOthersAndOfOtherAttemptsChangeNothing) {
  (void)delivered();
  alone->arrive(other);
  SentStates of_other = answer_to(asked().at(0), other);
  SentStates of_attempt = answer_to(asked().at(0));
  ++of_attempt.told.attempt;

  send(of_other);
  send(of_attempt);

  EXPECT_THAT(alone->verifications, IsEmpty());
  EXPECT_THAT(alone->forgotten, IsEmpty()) << "the blobs may be the suspect's";
  send(answer_to(asked().at(0)));
  EXPECT_THAT(alone->verifications, SizeIs(1));
}

TEST_F(CoreSteps, AStateWithAWrongRootLosesTheLease) {
  (void)delivered();
  send(answer_to(asked().at(0)));

  answer({.reason = "The state has another root.", .unanswered = true, .of_steps = true});

  const auto verdicts = alone->told<protocol::Verdict>(stranger);
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_FALSE(verdicts[0].accepted);
  EXPECT_THAT(alone->stored.watches, IsEmpty());
  EXPECT_EQ(alone->forgotten, blobs_of(answer_to(asked()[0])));
}

TEST_F(CoreSteps, AWrongGroupRefusesItsWorkerAndTheSameResultOfAnotherIsPaid) {
  const JobId job = delivered();
  send(answer_to(asked().at(0)));
  alone->arrive(trusted);

  answer({.outcome = trust::AuditOutcome::differs,
          .wrong = manifest::Range{0, 4},
          .of_steps = true,
          .devices = trust::Devices::two,
          .vendor = "mesa"});
  alone->pass(seconds(1));

  EXPECT_FALSE(alone->told<protocol::Verdict>(stranger).at(0).accepted);
  EXPECT_TRUE(alone->stored.tasks.empty());
  ASSERT_EQ(lease_of(trusted).job, job);
  deliver(trusted, roots());
  if (!asked(trusted).empty()) send(answer_to(asked(trusted)[0], trusted));
  answer({.outcome = trust::AuditOutcome::agrees, .of_steps = true});
  ASSERT_THAT(alone->stored.tasks, SizeIs(1)) << "the result was right";
  EXPECT_THAT(alone->stored.tasks[0].agreeing, ElementsAre(CoreAlone::worker(trusted)));
}

TEST_F(CoreSteps, AWrongGroupSaysNothingOfTheSameResultOfAnother) {
  open();
  alone->arrive(stranger);
  alone->arrive(other);
  measure(submit(1, 2), 1);
  deliver(stranger, roots());
  deliver(other, roots(1));
  const std::uint8_t suspect = asked(stranger).empty() ? other : stranger;
  const std::uint8_t second = suspect == stranger ? other : stranger;
  ASSERT_THAT(asked(suspect), SizeIs(1));
  send(answer_to(asked(suspect)[0], suspect));

  answer({.outcome = trust::AuditOutcome::differs,
          .wrong = manifest::Range{0, 8},
          .of_steps = true,
          .devices = trust::Devices::two,
          .vendor = "mesa"});

  EXPECT_THAT(alone->told<protocol::Verdict>(suspect), SizeIs(1));
  EXPECT_THAT(alone->told<protocol::Verdict>(second), IsEmpty());
}

TEST_F(CoreSteps, GroupsThatTakeTooLongEachTimeAreReplacedByTheWholeTask) {
  (void)delivered();
  for (const int pause : {10, 20, 40}) {
    send(answer_to(asked().back()));
    answer(late());
    alone->pass(seconds(pause));
  }
  EXPECT_THAT(asked(), SizeIs(4)) << "states are asked for again";
  EXPECT_THAT(asked(), Each(testing::Field(&protocol::OpenStates::groups, asked()[0].groups)))
      << "of the same groups";
  send(answer_to(asked().back()));

  answer(late());

  ASSERT_THAT(alone->verifications, SizeIs(5));
  EXPECT_THAT(alone->verifications.back().groups, IsEmpty())
      << "the worker did not choose the data from which all steps are computed";
  answer({.outcome = trust::AuditOutcome::agrees});
  EXPECT_THAT(alone->stored.tasks, SizeIs(1));
}

// --- Connections, ends, restarts and room.

TEST_F(CoreSteps, AWorkerThatConnectsAgainIsAskedAgainWithinTheSameTime) {
  (void)delivered();
  alone->pass(seconds(20));
  alone->core().sessions().left(SessionId(stranger), false, alone->now);
  alone->run();

  alone->arrive(stranger);
  ASSERT_THAT(asked(), SizeIs(2));
  EXPECT_EQ(asked()[1].groups, asked()[0].groups);
  alone->pass(seconds(11));

  const auto refused = alone->told<protocol::Verdict>(stranger);
  ASSERT_THAT(refused, SizeIs(1)) << "to connect again and again gains no time";
  EXPECT_FALSE(refused[0].accepted);
}

TEST_F(CoreSteps, AfterARestartTheSameGroupsAreAskedForWhenTheWorkerReturns) {
  (void)delivered();
  const auto before = asked().at(0);
  const auto submission = CoreAlone::submission(steps_manifest());
  Restored restored;
  restored.rows.jobs = alone->stored.jobs;
  ASSERT_THAT(restored.rows.jobs, SizeIs(1));
  restored.rows.jobs[0].price = 100;
  restored.rows.jobs[0].units = 1;
  restored.rows.jobs[0].reference_seconds_per_workgroup = 5;
  restored.rows.replicas = alone->stored.replicas;
  restored.rows.balances = {{ledger::Account::mint(), -1000},
                            {ledger::Account::escrow(submission.id), 1000}};

  open(std::move(restored));

  EXPECT_THAT(alone->verifications, IsEmpty());
  EXPECT_THAT(asked(), IsEmpty()) << "it is not connected";
  alone->pass(seconds(80));
  alone->arrive(stranger);
  ASSERT_THAT(asked(), SizeIs(1));
  EXPECT_EQ(asked()[0].groups, before.groups);
  EXPECT_EQ(asked()[0].attempt, before.attempt);
  send(answer_to(asked()[0]));
  ASSERT_THAT(alone->verifications, SizeIs(1));
  EXPECT_THAT(alone->verifications[0].groups, testing::Not(IsEmpty()));
}

TEST_F(CoreSteps, AWorkerThatDoesNotReturnAfterARestartLosesTheLease) {
  (void)delivered();
  const auto submission = CoreAlone::submission(steps_manifest());
  Restored restored;
  restored.rows.jobs = alone->stored.jobs;
  restored.rows.replicas = alone->stored.replicas;
  restored.rows.balances = {{ledger::Account::mint(), -1000},
                            {ledger::Account::escrow(submission.id), 1000}};
  open(std::move(restored));

  alone->pass(seconds(91));

  ASSERT_THAT(alone->stored.checks, SizeIs(1));
  alone->arrive(stranger);
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(CoreSteps, TheStatesOfAJobThatEndsAreRemoved) {
  const JobId job = delivered();
  send(answer_to(asked().at(0)));

  alone->core().jobs().cancel(
      {.job = job, .client = CoreAlone::submission(steps_manifest()).client}, alone->now,
      [](const auto&) {});
  alone->run();

  EXPECT_EQ(alone->forgotten, blobs_of(answer_to(asked()[0])));
}

TEST_F(CoreSteps, ChecksOfAJobWaitForTheRoomOfItsStates) {
  constexpr std::uint32_t tasks = 24;
  open();
  const JobId job = submit(tasks);
  alone->arrive(stranger);
  measure(job, 1);
  alone->core().sessions().left(SessionId(stranger), true, alone->now);
  alone->arrive(trusted, {}, tasks);
  const auto room =
      checked_groups(*CoreAlone::submission(steps_manifest(tasks)).manifest).apart_max;
  // A check of this job needs one state at most.
  std::size_t done = 0;
  for (std::size_t at = 0; done < 16 && at < alone->told<protocol::Lease>(trusted).size(); ++at) {
    const protocol::Lease lease = alone->told<protocol::Lease>(trusted)[at];
    for (const auto& task : lease.tasks) {
      alone->deliver(trusted, lease, task, ByteVector(16, 5), roots());
      ++done;
    }
  }
  ASSERT_GE(done, 16U);
  ASSERT_THAT(asked(trusted), SizeIs(room)) << "of so many there is room for the states";

  send(answer_to(asked(trusted)[0], trusted));
  EXPECT_THAT(asked(trusted), SizeIs(room)) << "they are being checked";
  answer({.outcome = trust::AuditOutcome::agrees, .of_steps = true});

  EXPECT_THAT(asked(trusted), SizeIs(room + 1));
}

}  // namespace
}  // namespace weft::jobs
