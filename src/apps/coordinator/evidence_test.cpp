// A device that signs two results of one task and attempt leaves evidence, even if neither result
// counts. A device that is asked for parts of a task leaves no evidence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/coordinator/test_network.h"
#include "common/proof/claim_tree.h"
#include "common/protocol/receipt_claims.h"
#include "decisions/jobs/evidence_rows.h"
#include "decisions/jobs/stakes.h"

namespace weft::coordinator {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

Hash root_of(std::uint8_t byte) {
  Hash root;
  root.bytes.fill(byte);
  return root;
}

class EvidenceTest : public testing::Test {
 protected:
  explicit EvidenceTest(jobs::CoreSettings settings = with_stakes())
      : network(std::move(settings)) {}
  JobId submit(std::uint32_t tasks, std::uint32_t replicas = 1) {
    const auto submitted =
        network.submit(client, jobs::count_manifest(tasks, replicas), {++nonce_});
    EXPECT_TRUE(submitted.has_value()) << submitted.error().message;
    return submitted ? JobId::parse(submitted->id).value() : JobId{};
  }
  void sign(TestWorker& worker, std::vector<protocol::ReceiptItem> items) {
    const auto claims = protocol::claims_of(items);
    protocol::Receipt receipt{.items = std::move(items), .signature = {}};
    receipt.signature =
        worker.key.sign_now(proof::receipt_digest(jobs::place_of(worker.challenge), claims).span());
    worker.say(receipt);
    network.run();
  }
  std::vector<store::Evidence> evidence() {
    return network.store().evidence(0, store::evidence_max).value();
  }
  // Verifies both sides of the evidence, as any reader can.
  void expect_proven(const store::Evidence& found, const TaskId& task, const Hash& first,
                     const Hash& second) {
    EXPECT_EQ(found.worker, a.public_key());
    EXPECT_EQ(found.owner, a.public_key());
    EXPECT_EQ(found.task, task);
    EXPECT_EQ(found.first.root, first);
    EXPECT_EQ(found.second.root, second);
    for (const auto* side : {&found.first, &found.second}) {
      const auto receipt = proof::read_receipt(side->statement, side->claims);
      ASSERT_TRUE(receipt) << receipt.error().message;
      EXPECT_TRUE(std::ranges::contains(
          receipt->claims,
          proof::Claim{.task = task, .attempt = found.attempt, .root = side->root}));
      EXPECT_TRUE(crypto::verify_now(a.public_key(), crypto::sha256(side->statement).span(),
                                     side->signature));
    }
  }

  static jobs::CoreSettings with_stakes() {
    auto settings = TestNetwork::by_heads();
    settings.stakes_open = true;
    return settings;
  }
  void contradict(TestWorker& worker) {
    ASSERT_THAT(worker.leases, testing::Not(IsEmpty()));
    const TaskId task{.job = worker.leases[0].job, .index = worker.leases[0].tasks[0].index};
    const std::uint32_t attempt = worker.leases[0].tasks[0].attempt;
    sign(worker, {{.task = task, .attempt = attempt, .root = root_of(1)},
                  {.task = task, .attempt = attempt, .root = root_of(2)}});
  }
  // Deposits a stake for a worker in the ledger.
  void stake(const crypto::KeyPair& key, MicroCredits amount) {
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.stakes().move({.wallet = key.public_key(), .amount = amount, .number = ++nonce_}, now,
                         [](const auto& moved) { EXPECT_TRUE(moved) << moved.error().message; });
    });
    network.run();
  }
  void stake_on_chain(const crypto::KeyPair& key, MicroCredits amount) {
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.stakes().read_chain(
          {.slot = ++slot_,
           .stakes = {{.owner = OwnerId::of_first(key.public_key()), .amount = amount}}},
          now, [](const auto& taken) { EXPECT_TRUE(taken) << taken.error().message; });
    });
    network.run();
  }
  bool keeps_evidence_of(const crypto::KeyPair& key) {
    return std::ranges::contains(evidence(), key.public_key(), &store::Evidence::worker);
  }

  TestNetwork network;
  crypto::KeyPair client = crypto::KeyPair::generate().value();
  crypto::KeyPair a = crypto::KeyPair::generate().value();
  std::uint8_t nonce_ = 0;
  std::uint64_t slot_ = 0;
};

TEST_F(EvidenceTest, IsKeptThoughNoResultWasEverHandedIn) {
  auto& worker = network.join(a, {.silent = true});
  const TaskId task{.job = submit(1), .index = 0};
  ASSERT_THAT(worker.leases, SizeIs(1));

  sign(worker, {{.task = task, .attempt = 1, .root = root_of(1)}});
  sign(worker, {{.task = task, .attempt = 1, .root = root_of(1)}});
  EXPECT_THAT(evidence(), IsEmpty());  // The same result twice is no contradiction.
  sign(worker, {{.task = task, .attempt = 1, .root = root_of(2)}});
  ASSERT_THAT(evidence(), SizeIs(1));
  expect_proven(evidence()[0], task, root_of(1), root_of(2));

  sign(worker, {{.task = task, .attempt = 1, .root = root_of(3)}});
  EXPECT_THAT(evidence(), SizeIs(1));  // An attempt has at most one piece of evidence.
}

TEST_F(EvidenceTest, IsKeptOverSessions) {
  auto& before = network.join(a, {.silent = true});
  const TaskId task{.job = submit(1), .index = 0};
  sign(before, {{.task = task, .attempt = 1, .root = root_of(1)}});
  before.line->on_closed();
  network.run();

  auto& after = network.join(a, {.silent = true});
  sign(after, {{.task = task, .attempt = 1, .root = root_of(2)}});
  ASSERT_THAT(evidence(), SizeIs(1));
  expect_proven(evidence()[0], task, root_of(1), root_of(2));
}

// A result that counted is stored with its receipt, so that later receipts are compared with it
// after a restart.
TEST_F(EvidenceTest, IsKeptOverRestartsOfWhatCountedBefore) {
  auto& before = network.join(a);
  const JobId job = submit(1, 2);  // The task waits for a second worker.
  ASSERT_THAT(before.leases, SizeIs(1));
  const auto leased = before.leases[0].tasks[0];
  const Hash right =
      proof::task_root(std::array{jobs::hand_in({}, a, before.challenge, job, leased).bytes});
  const TaskId task{.job = job, .index = leased.index};
  ASSERT_THAT(network.store().replicas(job).value(), SizeIs(1));

  network.restart();
  auto& after = network.join(a, {.silent = true});
  sign(after, {{.task = task, .attempt = leased.attempt, .root = right}});
  EXPECT_THAT(evidence(), IsEmpty());
  sign(after, {{.task = task, .attempt = leased.attempt, .root = root_of(9)}});
  ASSERT_THAT(evidence(), SizeIs(1));
  expect_proven(evidence()[0], task, right, root_of(9));
  EXPECT_TRUE(after.closed);
}

TEST_F(EvidenceTest, IsKeptOverRestartsOfJobsThatHaveEnded) {
  auto& before = network.join(a);
  const JobId job = submit(2);
  ASSERT_EQ(network.finish(job).state, store::JobState::done);
  const protocol::LeasedTask leased = before.leases[0].tasks[0];
  const TaskId task{.job = job, .index = leased.index};
  network.restart();
  sign(network.join(a, {.silent = true}),
       {{.task = task, .attempt = leased.attempt, .root = root_of(9)}});
  ASSERT_THAT(evidence(), SizeIs(1));
  EXPECT_EQ(evidence()[0].second.root, root_of(9));

  // Receipts that are older than the window are not compared.
  const auto b = crypto::KeyPair::generate().value();
  (void)network.join(b);
  const JobId old = submit(1);
  ASSERT_EQ(network.finish(old).state, store::JobState::done);
  network.pass(std::chrono::milliseconds(EarlierReceipts::window + 60'000));
  network.restart();
  sign(network.join(b, {.silent = true}),
       {{.task = {.job = old, .index = 0}, .attempt = 1, .root = root_of(9)}});
  EXPECT_THAT(evidence(), SizeIs(1));
}

TEST_F(EvidenceTest, IsKeptOfTasksThatAreAcceptedAndJobsThatHaveEnded) {
  auto& worker = network.join(a);
  const JobId job = submit(2);
  ASSERT_EQ(network.finish(job).state, store::JobState::done);
  ASSERT_THAT(worker.leases, testing::Not(IsEmpty()));
  const protocol::LeasedTask leased = worker.leases[0].tasks[0];
  const TaskId task{.job = job, .index = leased.index};
  const Hash right =
      proof::task_root(std::array{jobs::hand_in({}, a, worker.challenge, job, leased).bytes});

  sign(worker, {{.task = task, .attempt = leased.attempt, .root = root_of(9)}});
  ASSERT_THAT(evidence(), SizeIs(1));
  expect_proven(evidence()[0], task, right, root_of(9));
}

TEST_F(EvidenceTest, OneReceiptCanContradictItself) {
  auto& worker = network.join(a, {.silent = true});
  const TaskId task{.job = submit(1), .index = 0};
  sign(worker, {{.task = task, .attempt = 1, .root = root_of(1)},
                {.task = task, .attempt = 1, .root = root_of(2)}});
  ASSERT_THAT(evidence(), SizeIs(1));
  expect_proven(evidence()[0], task, root_of(1), root_of(2));
}

TEST_F(EvidenceTest, AttemptsTasksAndDevicesAreKeptApart) {
  auto& worker = network.join(a, {.silent = true});
  const JobId job = submit(4);
  ASSERT_THAT(worker.leases, testing::Not(IsEmpty()));
  const auto item = [&](std::uint32_t index, std::uint32_t attempt, std::uint8_t root) {
    return protocol::ReceiptItem{
        .task = {.job = job, .index = index}, .attempt = attempt, .root = root_of(root)};
  };
  sign(worker, {item(0, 1, 1), item(1, 1, 2), item(0, 2, 3)});
  EXPECT_THAT(evidence(), IsEmpty());
}

// Wallets are free. If evidence of each of them were kept, it would displace evidence against
// workers with a stake.
TEST_F(EvidenceTest, ThousandsOfFreeWalletsLeaveRoomForWorkersThatCanLoseSomething) {
  (void)submit(4);
  for (int i = 0; i < 2'000; ++i) {
    const auto key = crypto::KeyPair::generate().value();
    contradict(network.join(key, {.silent = true}));
  }
  EXPECT_THAT(evidence(), SizeIs(jobs::EvidenceRows::of_others_max));

  const auto submitted = network.submit(a, jobs::count_manifest(1, 1), {++nonce_});
  ASSERT_TRUE(submitted) << submitted.error().message;
  stake(a, 2'000'000);
  contradict(network.join(a, {.silent = true}));
  EXPECT_TRUE(keeps_evidence_of(a));

  const auto b = crypto::KeyPair::generate().value();
  stake_on_chain(b, 2'000'000);
  contradict(network.join(b, {.silent = true}));
  EXPECT_TRUE(keeps_evidence_of(b));

  const auto c = crypto::KeyPair::generate().value();
  stake_on_chain(b, 1);
  contradict(network.join(c, {.silent = true}));
  EXPECT_FALSE(keeps_evidence_of(c)) << "next to nothing is nothing";
  network.pass(std::chrono::milliseconds(jobs::EvidenceRows::day));
  (void)submit(1);
  const auto d = crypto::KeyPair::generate().value();
  contradict(network.join(d, {.silent = true}));
  EXPECT_TRUE(keeps_evidence_of(d));
}

class EvidenceOfEstablished : public EvidenceTest {
 protected:
  EvidenceOfEstablished() : EvidenceTest(easily_established()) {}
  static jobs::CoreSettings easily_established() {
    auto settings = with_stakes();
    settings.referee.reputation.half = 1e-9;
    settings.referee.reputation.probation = 1;
    return settings;
  }
};

// An established worker without a stake can lose its standing, so its evidence is kept.
TEST_F(EvidenceOfEstablished, FindsARowWithoutAStake) {
  network.invitation = trust::Invitation::none;
  for (const auto* key : {&a, &client}) (void)network.join(*key);
  ASSERT_EQ(network.finish(submit(60, 2)).state, store::JobState::done);
  network.restart();
  (void)submit(4);
  for (std::size_t i = 0; i < jobs::EvidenceRows::of_others_max + 10; ++i) {
    const auto key = crypto::KeyPair::generate().value();
    contradict(network.join(key, {.silent = true}));
  }
  ASSERT_THAT(evidence(), SizeIs(jobs::EvidenceRows::of_others_max));

  contradict(network.join(a, {.silent = true}));
  EXPECT_TRUE(keeps_evidence_of(a));
}

// Two contradicting signatures of one key are proof enough for the coordinator to convict without
// another check.
TEST_F(EvidenceTest, ConvictsAndEndsTheSession) {
  const JobId job = submit(1);
  const auto funded = network.submit(a, jobs::count_manifest(1, 1), {++nonce_});
  ASSERT_TRUE(funded) << funded.error().message;
  stake(a, 2'000'000);
  auto& worker = network.join(a, {.silent = true});
  contradict(worker);
  EXPECT_TRUE(worker.closed);
  ASSERT_THAT(worker.errors, SizeIs(1));
  EXPECT_EQ(worker.errors[0].code, "permission_denied");
  EXPECT_EQ(network.balance(ledger::Account::stake(OwnerId::of_first(a.public_key()))), 0);

  auto& again = network.join(a);
  EXPECT_TRUE(again.welcomed);
  EXPECT_THAT(again.leases, IsEmpty()) << "it is suspended";
  (void)network.join(client);
  EXPECT_EQ(network.finish(job).state, store::JobState::done) << "its lease went to another worker";
}

TEST_F(EvidenceTest, NothingThatAReceiptSignsBesideAContradictionCounts) {
  auto& worker = network.join(a, {.silent = true});
  const JobId job = submit(1);
  const auto leased = worker.leases.at(0).tasks.at(0);
  const auto made = jobs::hand_in({}, a, worker.challenge, job, leased);
  worker.line->on_binary(made.frame);
  const TaskId task{.job = job, .index = leased.index};
  const Hash root = made.receipt.items[0].root;
  sign(worker, {{.task = task, .attempt = leased.attempt, .root = root},
                {.task = task, .attempt = leased.attempt, .root = root_of(7)}});
  EXPECT_THAT(evidence(), SizeIs(1));
  EXPECT_THAT(network.store().replicas(job).value(), IsEmpty());
}

// An audit or a poll leases parts of one task under one attempt, and a worker may get several of
// them.
TEST_F(EvidenceTest, PartsOfATaskAreNone) {
  auto& worker = network.join(a, {.silent = true});
  const JobId job = submit(1);
  const TaskId task{.job = job, .index = 0};
  sign(worker, {{.task = task, .attempt = 1, .root = root_of(1)}});
  for (const std::uint32_t first : {1U, 2U}) {
    worker.line->send(protocol::Lease{
        .job = job, .tasks = {{.index = 0, .attempt = 1, .first = first, .count = 1}}});
    const auto root = static_cast<std::uint8_t>(10 + first);
    sign(worker, {{.task = task, .attempt = 1, .root = root_of(root), .first = first, .count = 1}});
  }
  EXPECT_THAT(evidence(), IsEmpty());
  EXPECT_THAT(worker.errors, IsEmpty());
}

// A worker signs a whole task as if it were a part. Such a claim is no evidence, so it must not
// cover the result either: the worker would be paid for a result that it can contradict.
TEST_F(EvidenceTest, AWholeTaskThatIsSignedAsAPartCoversNothing) {
  auto& worker = network.join(a, {.silent = true});
  const JobId job = submit(1);
  const TaskId task{.job = job, .index = 0};
  const auto made = jobs::hand_in({}, a, worker.challenge, job, worker.leases[0].tasks[0]);
  const Hash root = made.receipt.items[0].root;
  worker.line->on_binary(made.frame);
  sign(worker, {{.task = task, .attempt = 1, .root = root, .first = 0, .count = 4}});
  EXPECT_THAT(network.store().replicas(job).value(), IsEmpty());
  sign(worker, {{.task = task, .attempt = 1, .root = root}});
  EXPECT_EQ(network.finish(job).state, store::JobState::done);
}

TEST_F(EvidenceTest, AWholeTaskHasNoFirstWorkgroup) {
  auto& worker = network.join(a, {.silent = true});
  const TaskId task{.job = submit(1), .index = 0};
  sign(worker, {{.task = task, .attempt = 1, .root = root_of(1), .first = 3, .count = 0}});
  ASSERT_THAT(worker.errors, SizeIs(1));
  EXPECT_EQ(worker.errors[0].code, "invalid_argument");
}

}  // namespace
}  // namespace weft::coordinator
