// Tests of the central promise: whatever single workers do, an accepted job has the right bytes,
// every task is paid exactly once, the ledger sums to zero, and nothing is told before it is
// durable. In simulated time, with the real sessions and checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/coordinator/test_network.h"
#include "common/protocol/messages.h"
#include "decisions/jobs/client_weights.h"
#include "decisions/jobs/core_views.h"
#include "decisions/jobs/job_life.h"

namespace weft::coordinator {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CoreTest : public testing::Test {
 protected:
  // Checks that the job is done with the bytes that honest workers compute, and that its escrow is
  // empty.
  void expect_right(const store::Job& job, std::uint32_t tasks) {
    ASSERT_EQ(job.state, store::JobState::done) << job.reason;
    ByteVector expected;
    for (std::uint32_t i = 0; i < tasks * 4; ++i) append_le(expected, i);
    EXPECT_EQ(network.output(job), expected);
    EXPECT_EQ(network.balance(ledger::Account::escrow(job.id)), 0);
    EXPECT_EQ(job.accepted, tasks);
    EXPECT_TRUE(network.store().audit().has_value());
  }
  // Sets a client's weight; `later` is the order's time after the network's start, by the
  // operator's clock.
  Result<protocol::api::Client> set_weight(const PublicKey& who, double weight,
                                           UnixMillis later = 0) {
    Result<protocol::api::Client> answer = fail(ErrorCode::unavailable, "No answer.");
    network.post([&](jobs::Core& core, jobs::Moment now) {
      if (began_ == 0) began_ = now.unix;
      core.weights().set({.client = who, .weight = weight, .at = began_ + later}, now,
                         [&](const auto& result) { answer = result; });
    });
    network.run();
    return answer;
  }
  MicroCredits earned(const crypto::KeyPair& worker) {
    return network.balance(ledger::Account::owner(OwnerId::of_first(worker.public_key())));
  }

  JobId submit(std::uint32_t tasks, std::uint32_t replicas, std::string_view more = "") {
    nonce_[0]++;
    const auto submitted =
        network.submit(client, jobs::count_manifest(tasks, replicas, more), nonce_);
    EXPECT_TRUE(submitted.has_value()) << submitted.error().message;
    return submitted ? JobId::parse(submitted->id).value() : JobId{};
  }

  TestNetwork network;
  crypto::KeyPair client = crypto::KeyPair::generate().value();
  crypto::KeyPair a = crypto::KeyPair::generate().value();
  crypto::KeyPair b = crypto::KeyPair::generate().value();
  crypto::KeyPair c = crypto::KeyPair::generate().value();
  store::SubmitNonce nonce_{};
  UnixMillis began_ = 0;
};

TEST_F(CoreTest, AJobIsSplitComputedTwiceJoinedAndPaidFromEscrow) {
  auto& first = network.join(a);
  network.join(b);

  const auto job = network.finish(submit(8, 2));

  expect_right(job, 8);
  EXPECT_GT(earned(a), 0);
  EXPECT_EQ(earned(a), earned(b));
  EXPECT_EQ(network.balance(ledger::Account::owner(OwnerId::of_first(client.public_key()))),
            TestNetwork::grant - earned(a) - earned(b));
  ASSERT_THAT(first.verdicts, SizeIs(8));
  for (const auto& verdict : first.verdicts) EXPECT_TRUE(verdict.accepted) << verdict.reason;
  EXPECT_EQ(first.verdicts.back().balance, earned(a));
  EXPECT_EQ(network.store().replicas(job.id)->size(), 16U);
}

TEST_F(CoreTest, TheRootIsTheTreeOverTheTasks) {
  network.join(a);

  const auto job = network.finish(submit(3, 1));

  std::vector<Hash> roots;
  for (std::uint32_t task = 0; task < 3; ++task) {
    ByteVector bytes;
    for (std::uint32_t i = task * 4; i < task * 4 + 4; ++i) append_le(bytes, i);
    roots.push_back(proof::task_root(std::array{bytes}));
  }
  EXPECT_EQ(job.root, proof::root_of_roots(roots));
}

TEST_F(CoreTest, AReceiptMayComeBeforeItsResult) {
  network.join(a, {.receipt_first = true});

  expect_right(network.finish(submit(4, 1)), 4);
}

TEST_F(CoreTest, AWorkerWithAWrongByteIsOutvotedAndNotPaid) {
  network.join(a);
  network.join(b);
  auto& liar = network.join(c, {.wrong_byte = true});

  expect_right(network.finish(submit(12, 2)), 12);

  EXPECT_EQ(earned(c), 0);
  for (const auto& verdict : liar.verdicts) EXPECT_FALSE(verdict.accepted);
}

// Each row has a worker that does one thing wrong, beside two honest workers.
struct Cheat {
  const char* name;
  jobs::Behaviour behaviour;
};
class Cheats : public CoreTest, public testing::WithParamInterface<Cheat> {};

TEST_P(Cheats, AreRefusedAndNotPaidAndTheJobIsStillRight) {
  auto& cheat = network.join(c, GetParam().behaviour);
  network.join(a);
  network.join(b);

  expect_right(network.finish(submit(12, 2)), 12);

  EXPECT_EQ(earned(c), 0);
  for (const auto& verdict : cheat.verdicts) EXPECT_FALSE(verdict.accepted);
  EXPECT_FALSE(cheat.verdicts.empty() && cheat.errors.empty()) << "it is told";
}
INSTANTIATE_TEST_SUITE_P(Rows, Cheats,
                         testing::Values(Cheat{"WrongByte", {.wrong_byte = true}},
                                         Cheat{"WrongRoot", {.wrong_root = true}},
                                         Cheat{"WrongHash", {.wrong_hash = true}},
                                         Cheat{"WrongSize", {.wrong_size = true}},
                                         Cheat{"BadSignature", {.bad_signature = true}}),
                         [](const auto& row) { return row.param.name; });

TEST_F(CoreTest, ADoubledResultIsPaidOnce) {
  auto& doubling = network.join(a, {.doubled = true});
  network.join(b);

  expect_right(network.finish(submit(4, 2)), 4);

  EXPECT_EQ(earned(a), earned(b));
  const auto refused = std::ranges::count_if(doubling.verdicts,
                                             [](const auto& verdict) { return !verdict.accepted; });
  EXPECT_EQ(refused, 4);
}

TEST_F(CoreTest, AResultForATaskThatItDoesNotHoldIsRefused) {
  network.join(a, {.silent = true});
  const auto id = submit(2, 1);
  auto& thief = network.join(b, {.silent = true});
  protocol::Lease made_up{.job = id, .manifest = {}, .tasks = {}};

  thief.deliver(made_up, {.index = 0, .attempt = 0, .first = 0, .count = 4});
  network.run();

  ASSERT_THAT(thief.verdicts, SizeIs(1));
  EXPECT_FALSE(thief.verdicts[0].accepted);
  EXPECT_THAT(thief.verdicts[0].reason, HasSubstr("does not hold"));
  EXPECT_EQ(earned(b), 0);
}

// If a worker could claim a task that it was not leased, it could choose an accomplice's task and
// agree with its result.
TEST_F(CoreTest, ATaskThatWasNeverLeasedToItIsNotAWorkersToResume) {
  auto& first = network.join(a, {.silent = true});
  const auto id = submit(1, 2);
  ASSERT_THAT(first.leases, SizeIs(1));
  first.behaviour = {.wrong_byte = true};
  first.deliver(first.leases[0], first.leases[0].tasks[0]);
  network.run();

  auto& accomplice = network.connect(b, {.silent = true});
  accomplice.connect();
  const auto held = held_of(first.leases[0], first.leases[0].tasks[0]);
  accomplice.say(protocol::Resume{.held = {held,
                                           {.task = held.task, .attempt = 77, .proof = held.proof},
                                           {.task = held.task, .attempt = 78}}});
  network.run();
  accomplice.behaviour = {.wrong_byte = true};
  for (const std::uint32_t attempt : {1U, 77U, 78U})
    accomplice.deliver(first.leases[0], {.index = 0, .attempt = attempt, .first = 0, .count = 4});
  network.run();

  EXPECT_EQ(network.store().job(id)->accepted, 0U);
  EXPECT_EQ(network.store().replicas(id)->size(), 1U);
  ASSERT_THAT(accomplice.cancels, SizeIs(1));
  EXPECT_THAT(accomplice.cancels[0].tasks, SizeIs(3));
  for (const auto& verdict : accomplice.verdicts) EXPECT_FALSE(verdict.accepted);
  EXPECT_EQ(earned(a) + earned(b), 0);
}

TEST_F(CoreTest, ALeaseThatWasGivenIsResumedOverABrokenConnection) {
  auto& before = network.join(a, {.silent = true});
  const auto id = submit(1, 1);
  ASSERT_THAT(before.leases, SizeIs(1));
  const auto lease = before.leases[0];
  auto& after = network.connect(a, {.silent = true});
  after.connect();
  after.say(protocol::Resume{.held = {held_of(lease, lease.tasks[0])}});
  after.deliver(lease, lease.tasks[0]);
  network.run();

  expect_right(network.finish(id), 1);
  EXPECT_TRUE(before.closed);
}

// A result whose receipt was lost would count although its signature could not be checked later.
TEST_F(CoreTest, EveryResultThatCountsHasItsReceiptStoredHoweverManyWereSent) {
  auto& worker = network.join(a, {.silent = true});
  const auto id = submit(1, 1);
  ASSERT_THAT(worker.leases, SizeIs(1));
  const auto made = jobs::hand_in({}, a, worker.challenge, id, worker.leases[0].tasks[0]);
  worker.say(made.receipt);
  for (int i = 0; i < 2000; ++i) {
    protocol::Receipt flood;
    std::vector<proof::Claim> claims;
    for (std::uint32_t k = 0; k < proof::receipt_claims_max; ++k) {
      JobId other;
      other.bytes[0] = static_cast<std::uint8_t>(i >> 8);
      other.bytes[1] = static_cast<std::uint8_t>(i);
      other.bytes[2] = 1;
      const TaskId task{.job = other, .index = k};
      claims.push_back({.task = task, .attempt = 1, .root = {}});
      flood.items.push_back({.task = task, .attempt = 1, .root = {}});
    }
    flood.signature =
        a.sign_now(proof::receipt_digest(jobs::place_of(worker.challenge), claims).span());
    worker.say(flood);
  }
  worker.line->on_binary(made.frame);
  network.run();

  expect_right(network.finish(id), 1);
  const auto replicas = network.store().replicas(id);
  ASSERT_EQ(replicas->size(), 1U);
  const auto receipts = network.store().receipts(id);
  ASSERT_EQ(receipts->size(), 1U);
  EXPECT_EQ(replicas->front().receipt, receipts->front().digest);
  EXPECT_TRUE(network.blobs().has(receipts->front().digest));
  EXPECT_TRUE(network.blobs().has(receipts->front().claims));
}

TEST_F(CoreTest, WhatCameBeforeAFrameThatIsTooLargeIsTaken) {
  auto& worker = network.join(a, {.silent = true});
  const auto id = submit(1, 1);
  ASSERT_THAT(worker.leases, SizeIs(1));
  network.hold_work = true;
  worker.deliver(worker.leases[0], worker.leases[0].tasks[0]);
  worker.line->on_oversized(2'000'000);
  worker.say(protocol::Beat{});
  network.hold_work = false;
  for (const auto& work : std::exchange(network.held_work, {})) work();
  network.run();

  EXPECT_TRUE(worker.closed);
  expect_right(network.finish(id), 1);
  EXPECT_GT(earned(a), 0);
}

TEST_F(CoreTest, ABudgetThatNoPriceFitsInIsRefusedBeforeAWorkerComputes) {
  auto& worker = network.join(a);
  const auto refused = network.submit(client, jobs::count_manifest(8, 2, "", 0), {1});

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(refused.error().message,
            "8 tasks of 2 replicas cost 0.001600 credits at least; the budget is 0.000000: raise "
            "\"budget\" in the manifest.");
  EXPECT_THAT(worker.leases, IsEmpty());
}

TEST_F(CoreTest, ABadSignatureEndsTheConnectionOnly) {
  auto& forger = network.join(a, {.bad_signature = true});
  auto& other = network.join(b);

  expect_right(network.finish(submit(4, 1)), 4);

  EXPECT_TRUE(forger.closed);
  ASSERT_THAT(forger.errors, SizeIs(1));
  EXPECT_EQ(forger.errors[0].code, "unauthenticated");
  EXPECT_FALSE(other.closed);
}

// Each row has the messages of a connection, and the code of the only error that it gets.
struct Nonsense {
  const char* name;
  std::function<void(TestWorker&)> say;
  const char* code;
};
class Nonsenses : public CoreTest, public testing::WithParamInterface<Nonsense> {};

TEST_P(Nonsenses, IsAnsweredWithOneErrorAndTheConnectionCloses) {
  auto& honest = network.join(a);
  auto& stranger = network.connect(b);

  GetParam().say(stranger);
  network.run();
  stranger.say(protocol::Beat{});
  network.run();

  EXPECT_TRUE(stranger.closed);
  ASSERT_THAT(stranger.errors, SizeIs(1));
  EXPECT_EQ(stranger.errors[0].code, GetParam().code) << stranger.errors[0].message;
  EXPECT_FALSE(honest.closed);
  expect_right(network.finish(submit(2, 1)), 2);
}
INSTANTIATE_TEST_SUITE_P(
    Rows, Nonsenses,
    testing::Values(
        Nonsense{"NoJson", [](TestWorker& worker) { worker.line->on_text("hello"); },
                 "invalid_argument"},
        Nonsense{"UnknownType",
                 [](TestWorker& worker) { worker.line->on_text(R"({"type":"dance","v":8})"); },
                 "invalid_argument"},
        Nonsense{"UnknownField",
                 [](TestWorker& worker) {
                   worker.line->on_text(R"({"type":"beat","v":8,"running":0,"more":1})");
                 },
                 "invalid_argument"},
        Nonsense{"NoFrame", [](TestWorker& worker) { worker.line->on_binary("x"); },
                 "unauthenticated"},
        Nonsense{"BeatFirst", [](TestWorker& worker) { worker.say(protocol::Beat{}); },
                 "unauthenticated"},
        Nonsense{"Oversized", [](TestWorker& worker) { worker.line->on_oversized(2'000'000); },
                 "resource_exhausted"},
        Nonsense{"OtherVersion",
                 [](TestWorker& worker) {
                   protocol::Hello hello;
                   hello.versions = {9, 10};
                   hello.key = worker.key.public_key();
                   worker.say(hello);
                 },
                 "unsupported"},
        Nonsense{"ForeignKey",
                 [](TestWorker& worker) {
                   protocol::Hello hello;
                   hello.versions = {protocol::version};
                   hello.key.bytes[5] = 7;  // A key other than the one that signs the challenge.
                   worker.say(hello);
                 },
                 "unauthenticated"},
        Nonsense{"HelloTwice",
                 [](TestWorker& worker) {
                   worker.connect();
                   worker.connect();
                 },
                 "invalid_argument"},
        Nonsense{"BrokenFrameAfterWelcome",
                 [](TestWorker& worker) {
                   worker.connect();
                   worker.network.run();
                   worker.line->on_binary(std::string("\xff\xff\xff\xff{}", 6));
                 },
                 "invalid_argument"}),
    [](const auto& row) { return row.param.name; });

TEST_F(CoreTest, ASilentWorkerLosesItsTasksToAnother) {
  auto& silent = network.join(a, {.silent = true});
  const auto id = submit(2, 1);
  ASSERT_THAT(silent.leases, testing::Not(IsEmpty()));

  network.join(b);
  expect_right(network.finish(id), 2);

  EXPECT_TRUE(silent.closed);
  EXPECT_EQ(earned(a), 0);
}

TEST_F(CoreTest, ALateTaskRunsElsewhereTooAndWhoIsSecondIsNotBlamed) {
  auto& slow = network.join(a, {.silent = true});
  const auto id = submit(2, 1);
  network.pass(std::chrono::milliseconds(200));
  slow.deliver(slow.leases.at(0),
               slow.leases.at(0).tasks.at(0));  // The canary is in time; the next task never ends.
  network.run();
  ASSERT_THAT(slow.leases, SizeIs(2));
  const MicroCredits canary = earned(a);
  auto& other = network.join(b);
  EXPECT_THAT(other.leases, IsEmpty());

  for (int half_second = 0; half_second < 6; ++half_second) {
    slow.say(protocol::Beat{.running = 1});
    network.pass(std::chrono::milliseconds(500));
  }
  expect_right(network.store().job(id).value(), 2);
  ASSERT_THAT(slow.cancels, SizeIs(1));
  EXPECT_GT(earned(b), 0);

  slow.deliver(slow.leases.at(1), slow.leases.at(1).tasks.at(0));  // Delivers the late task.
  network.run();
  EXPECT_EQ(earned(a), canary);
  EXPECT_FALSE(slow.closed);
  network.core().views().workers([&](auto view) {
    for (const auto& worker : view->workers) EXPECT_EQ(worker.refused, 0U);
  });
  network.run();
}

TEST_F(CoreTest, TwoClientsShareTheWorkersThoughOneSubmittedMoreBefore) {
  const auto second = crypto::KeyPair::generate().value();
  auto& worker = network.join(a, {.silent = true, .gpu_seconds = 0.9});
  submit(40, 1);
  network.pass(std::chrono::milliseconds(900));
  worker.deliver(worker.leases.at(0), worker.leases.at(0).tasks.at(
                                          // The canary shows that a task takes most of a second.
                                          0));
  network.run();
  const auto other = network.submit(second, jobs::count_manifest(40, 1), {99});
  ASSERT_TRUE(other.has_value());

  // Runs one task at a time, in the order of the leases; each takes 0.9 s.
  std::map<std::string, int> done;
  for (std::size_t next = 1; next < 21; ++next) {
    ASSERT_GT(worker.leases.size(), next);
    network.pass(std::chrono::milliseconds(900));
    const auto lease = worker.leases[next];
    ASSERT_THAT(lease.tasks, SizeIs(1));
    worker.deliver(lease, lease.tasks[0]);
    network.run();
    ++done[lease.job.text()];
  }
  ASSERT_THAT(done, SizeIs(2));
  for (const auto& [job, tasks] : done) EXPECT_NEAR(tasks, 10, 2) << job;
}

TEST_F(CoreTest, TheOperatorSetsAClientsWeightWhileItsJobsRun) {
  const auto second = crypto::KeyPair::generate().value();
  auto& worker = network.join(a, {.silent = true, .gpu_seconds = 0.9});
  submit(80, 1);
  network.pass(std::chrono::milliseconds(900));
  worker.deliver(worker.leases.at(0), worker.leases.at(0).tasks.at(0));
  network.run();
  const auto other = network.submit(second, jobs::count_manifest(80, 1), {99});
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(set_weight(second.public_key(), 3).value().jobs, 1U);

  std::map<std::string, int> done;
  for (std::size_t next = 1; next < 41; ++next) {
    ASSERT_GT(worker.leases.size(), next);
    network.pass(std::chrono::milliseconds(900));
    const auto lease = worker.leases[next];
    worker.deliver(lease, lease.tasks.at(0));
    network.run();
    ++done[lease.job.text()];
  }
  EXPECT_NEAR(done[other->id], 30, 3) << "three quarters";
}

TEST_F(CoreTest, AWeightOutlivesTheCoordinatorAndWhatWasSignedEarlierDoesNotUndoIt) {
  const PublicKey who = client.public_key();
  const auto weight = [&] {
    double found = 0;
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.weights().list(now, [&](const Result<protocol::api::Clients>& view) {
        for (const auto& each : view->clients)
          found = each.client == who.text() ? each.weight : found;
      });
    });
    network.run();
    return found;
  };
  ASSERT_TRUE(set_weight(who, 2, 1).has_value());
  ASSERT_TRUE(set_weight(who, 5, 2).has_value());
  EXPECT_EQ(weight(), 5);

  EXPECT_EQ(set_weight(who, 2, 1).error().code, ErrorCode::already_exists)
      << "sent again by a client that has received it";
  EXPECT_TRUE(set_weight(who, 5, 2).has_value()) << "the answer was lost";
  for (const double wrong : {0.0, -1.0, 1001.0, std::nan("")})
    EXPECT_EQ(set_weight(who, wrong, 3).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(set_weight(who, 9, 3'600'000).error().code, ErrorCode::invalid_argument)
      << "from tomorrow";
  network.restart();
  EXPECT_EQ(weight(), 5);
  EXPECT_EQ(set_weight(who, 2, 1).error().code, ErrorCode::already_exists)
      << "also after a restart";
}

TEST_F(CoreTest, AJobThatWaitsIsShownWithItsReason) {
  const auto shown = [&](const JobId& id) {
    protocol::api::Job asked;
    asked.id = id.text();
    protocol::api::Job job;
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.views().show_job(asked, now,
                            [&](const Result<protocol::api::Job>& answer) { job = *answer; });
    });
    network.run();
    return job.waiting;
  };
  const JobId id = submit(2, 1, R"(,"requires":{"features":["shader-f16"]})");
  EXPECT_EQ(shown(id).reason, "no-workers");

  network.join(a, {.silent = true});
  const auto waiting = shown(id);
  EXPECT_EQ(waiting.reason, "requirements");
  ASSERT_THAT(waiting.lacks, SizeIs(1));
  EXPECT_EQ(waiting.lacks[0].what, "the feature shader-f16");
  EXPECT_EQ(waiting.lacks[0].workers, 1U);
  EXPECT_THAT(waiting.detail, HasSubstr("None of 1 worker has all"));

  const JobId other = submit(2, 1);
  EXPECT_EQ(shown(other).reason, "canary");
  EXPECT_EQ(shown(submit(1, 1)).reason, "") << "it is leased";
}

TEST_F(CoreTest, ASecondConnectionWithTheSameKeyReplacesTheFirst) {
  auto& first = network.join(a, {.silent = true});
  auto& second = network.join(a);

  expect_right(network.finish(submit(2, 1)), 2);

  EXPECT_TRUE(first.closed);
  EXPECT_FALSE(second.closed);
  EXPECT_THAT(first.errors.at(0).message, HasSubstr("replaces"));
}

TEST_F(CoreTest, NothingIsAcknowledgedBeforeItIsDurableAndLeasesDoNotWait) {
  auto& worker = network.join(a, {.silent = true});
  network.hold_commits = true;
  bool answered = false;

  network.post_submission(client, jobs::count_manifest(1, 1), {1},
                          [&](const Result<protocol::api::Submitted>&) { answered = true; });
  network.run();
  EXPECT_FALSE(answered);
  ASSERT_THAT(worker.leases, SizeIs(1));
  worker.deliver(worker.leases[0], worker.leases[0].tasks[0]);
  network.run();
  EXPECT_THAT(worker.verdicts, IsEmpty());

  network.hold_commits = false;
  network.run();
  EXPECT_TRUE(answered);
  EXPECT_THAT(worker.leases, SizeIs(1));
  ASSERT_THAT(worker.verdicts, SizeIs(1));
  EXPECT_TRUE(worker.verdicts[0].accepted);
}

TEST_F(CoreTest, ALeaseDoesNotOvertakeTheWelcome) {
  network.hold_commits = true;
  network.post_submission(client, jobs::count_manifest(1, 1), {1},
                          [](const Result<protocol::api::Submitted>&) {});
  network.run();
  // The welcome is held until the job is committed.
  auto& worker = network.join(a, {.silent = true});
  EXPECT_FALSE(worker.welcomed);
  EXPECT_THAT(worker.leases, IsEmpty());

  network.hold_commits = false;
  network.run();
  EXPECT_TRUE(worker.welcomed);
  EXPECT_THAT(worker.leases, SizeIs(1));
}

TEST_F(CoreTest, VerdictsWaitForTheirCommit) {
  auto& worker = network.join(a, {.silent = true});
  submit(1, 1);
  ASSERT_THAT(worker.leases, SizeIs(1));
  network.hold_commits = true;

  worker.deliver(worker.leases[0], worker.leases[0].tasks[0]);
  network.run();
  EXPECT_THAT(worker.verdicts, IsEmpty());

  network.hold_commits = false;
  network.run();
  ASSERT_THAT(worker.verdicts, SizeIs(1));
  EXPECT_TRUE(worker.verdicts[0].accepted);
}

TEST_F(CoreTest, TheSameNonceGivesTheSameJobAndIsPaidOnce) {
  const auto text = jobs::count_manifest(2, 1);

  const auto first = network.submit(client, text, {7});
  const auto again = network.submit(client, text, {7});
  network.restart();
  const auto later = network.submit(client, text, {7});

  ASSERT_TRUE(first && again && later);
  EXPECT_EQ(first->id, again->id);
  EXPECT_EQ(first->id, later->id);
  EXPECT_EQ(network.balance(ledger::Account::owner(OwnerId::of_first(client.public_key()))),
            TestNetwork::grant - 100'000'000);
}

TEST_F(CoreTest, ANonceForAnotherManifestIsRefused) {
  ASSERT_TRUE(network.submit(client, jobs::count_manifest(2, 1), {7}).has_value());

  const auto other = network.submit(client, jobs::count_manifest(3, 1), {7});

  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, ErrorCode::already_exists);
}

TEST_F(CoreTest, ABudgetThatTheClientDoesNotHoldIsRefusedAndLeavesNoTrace) {
  const auto text = jobs::count_manifest(1, 1, "");
  for (std::uint8_t i = 1; i <= 10; ++i) ASSERT_TRUE(network.submit(client, text, {i}).has_value());

  const auto refused = network.submit(client, text, {99});

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::insufficient_funds);
  EXPECT_THAT(refused.error().message, HasSubstr("0.000000 credits"));
  EXPECT_EQ(network.store().jobs({})->size(), 10U);
}

TEST_F(CoreTest, ACancelledJobIsRefundedAndItsWorkersAreTold) {
  auto& worker = network.join(a, {.silent = true});
  const auto id = submit(4, 1);
  std::optional<Result<protocol::api::Submitted>> other;
  std::optional<Result<protocol::api::Submitted>> own;

  network.post([&](jobs::Core& core, jobs::Moment now) {
    core.jobs().cancel({.job = id, .client = b.public_key()}, now,
                       [&](auto result) { other = result; });
  });
  network.post([&](jobs::Core& core, jobs::Moment now) {
    core.jobs().cancel({.job = id, .client = client.public_key()}, now,
                       [&](auto result) { own = result; });
  });
  network.run();

  EXPECT_EQ(other->error().code, ErrorCode::permission_denied);
  EXPECT_EQ((*own)->state, "cancelled");
  EXPECT_THAT(worker.cancels, SizeIs(1));
  EXPECT_EQ(network.balance(ledger::Account::owner(OwnerId::of_first(client.public_key()))),
            TestNetwork::grant);
  EXPECT_EQ(network.store().job(id)->state, store::JobState::cancelled);
}

TEST_F(CoreTest, AJobThatNoWorkerCanDoFailsAndIsRefunded) {
  for (const auto* key : {&a, &b, &c}) network.join(*key, {.fails = true});

  const auto job = network.finish(submit(1, 1));

  EXPECT_EQ(job.state, store::JobState::failed);
  EXPECT_THAT(job.reason, HasSubstr("It does not want to"));
  EXPECT_EQ(network.balance(ledger::Account::owner(OwnerId::of_first(client.public_key()))),
            TestNetwork::grant);
}

TEST_F(CoreTest, AJobPastItsDeadlineFails) {
  network.join(a, {.silent = true});

  const auto job = network.finish(submit(1, 1, R"(,"deadline_s":5)"));

  EXPECT_EQ(job.state, store::JobState::failed);
  EXPECT_EQ(network.balance(ledger::Account::owner(OwnerId::of_first(client.public_key()))),
            TestNetwork::grant);
}

TEST_F(CoreTest, ARestartGoesOnWhereItWasAndPaysNothingTwice) {
  network.join(a);
  auto& slow = network.join(b, {.silent = true});
  const auto id = submit(6, 2);
  network.run();
  const auto before = network.store().replicas(id)->size();
  ASSERT_GT(before, 0U);
  ASSERT_FALSE(slow.leases.empty());

  network.restart();
  network.join(a);
  network.join(b);
  expect_right(network.finish(id), 6);

  EXPECT_EQ(earned(a), earned(b));
  EXPECT_EQ(network.store().replicas(id)->size(), 12U);
}

TEST_F(CoreTest, AResultThatWasComputedBeforeTheCrashIsWelcomeAfterIt) {
  auto& before = network.join(a, {.silent = true});
  const auto id = submit(1, 1);
  ASSERT_THAT(before.leases, SizeIs(1));
  const auto lease = before.leases[0];

  network.restart();
  auto& after = network.join(a, {.silent = true});
  after.say(protocol::Resume{.held = {held_of(lease, lease.tasks[0])}});
  network.run();
  after.deliver(lease, lease.tasks[0]);
  network.run();

  ASSERT_THAT(after.verdicts, SizeIs(1));
  EXPECT_TRUE(after.verdicts[0].accepted) << after.verdicts[0].reason;
  expect_right(network.finish(id), 1);
}

TEST_F(CoreTest, AResultOfASettledTaskIsRefusedAfterARestart) {
  auto& before = network.join(a);
  const auto id = submit(2, 1);
  expect_right(network.finish(id), 2);
  const auto lease = before.leases[0];
  const auto paid = earned(a);

  network.restart();
  auto& after = network.join(a, {.silent = true});
  after.say(protocol::Resume{.held = {held_of(lease, lease.tasks[0])}});
  network.run();
  after.deliver(lease, lease.tasks[0]);
  network.run();

  for (const auto& verdict : after.verdicts) EXPECT_FALSE(verdict.accepted);
  EXPECT_EQ(earned(a), paid);
}

TEST_F(CoreTest, ReplicasThatDifferForGoodFailTheJobAndRefundIt) {
  network.join(a);
  network.join(b, {.wrong_byte = true});

  const auto job = network.finish(submit(1, 2));

  EXPECT_EQ(job.state, store::JobState::failed);
  EXPECT_THAT(job.reason, HasSubstr("differ"));
  EXPECT_EQ(earned(a) + earned(b), 0);
  EXPECT_EQ(network.balance(ledger::Account::owner(OwnerId::of_first(client.public_key()))),
            TestNetwork::grant);
}

TEST_F(CoreTest, ManyEventsShareOneCommit) {
  std::vector<crypto::KeyPair> keys;
  for (int i = 0; i < 8; ++i) keys.push_back(crypto::KeyPair::generate().value());
  for (const auto& key : keys) network.join(key);

  const auto job = network.finish(submit(64, 1));

  expect_right(job, 64);
  EXPECT_LT(network.commits, 64U);
}

}  // namespace
}  // namespace weft::coordinator
