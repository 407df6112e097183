// Tests of an owner's data: the owner can see and delete them. Data about its jobs, keys and
// workers are deleted; money and its evidence stay; nothing is deleted while it is in use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/coordinator/test_network.h"
#include "common/protocol/messages.h"
#include "decisions/jobs/client_keys.h"
#include "decisions/jobs/owner_records.h"

namespace weft::coordinator {
namespace {

using testing::HasSubstr;

struct OwnerDataAt {
  explicit OwnerDataAt(jobs::CoreSettings settings) : network(std::move(settings)) {}

  store::Job run() {
    const auto submitted = network.submit(client, jobs::count_manifest(2, 1), {++nonce_});
    EXPECT_TRUE(submitted.has_value()) << submitted.error().message;
    return network.finish(JobId::parse(submitted->id).value());
  }
  Result<jobs::OwnerData> data(const crypto::KeyPair& wallet) {
    Result<jobs::OwnerData> answer = fail(ErrorCode::internal, "No answer.");
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.owner_records().show(wallet.public_key(), now, [&](const auto& told) { answer = told; });
    });
    network.run();
    return answer;
  }
  Result<jobs::OwnerView> forget(const crypto::KeyPair& wallet) {
    Result<jobs::OwnerView> answer = fail(ErrorCode::internal, "No answer.");
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.owner_records().forget(wallet.public_key(), now,
                                  [&](const auto& told) { answer = told; });
    });
    network.run();
    return answer;
  }
  void add_key(const crypto::KeyPair& wallet) {
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.keys().add({.id = "k", .name = "laptop", .hash = {}, .owner = wallet.public_key()},
                      billing::KeyMaker::client, 0, now,
                      [](const auto& key) { EXPECT_TRUE(key.has_value()); });
    });
    network.run();
  }

  TestNetwork network;
  crypto::KeyPair client = crypto::KeyPair::generate().value();
  crypto::KeyPair worker = crypto::KeyPair::generate().value();
  std::uint8_t nonce_ = 0;
};

class OwnerDataTest : public testing::Test, protected OwnerDataAt {
 protected:
  OwnerDataTest() : OwnerDataAt(TestNetwork::by_heads()) {}
};

TEST_F(OwnerDataTest, AnOwnerSeesItsKeysAndItsWorkersAndNoOthers) {
  network.join(worker);
  (void)run();
  add_key(client);

  const auto of_client = data(client);
  const auto of_worker = data(worker);

  ASSERT_TRUE(of_client && of_worker);
  ASSERT_EQ(of_client->keys.size(), 1U);
  EXPECT_EQ(of_client->keys[0].name, "laptop");
  EXPECT_TRUE(of_client->workers.empty());
  EXPECT_TRUE(of_worker->keys.empty());
  ASSERT_EQ(of_worker->workers.size(), 1U);
  EXPECT_TRUE(of_worker->workers[0].view.connected);
  EXPECT_EQ(of_worker->workers[0].view.accepted, 2U);
}

TEST_F(OwnerDataTest, ContentGoesAndMoneyAndProofsStay) {
  network.join(worker);
  const store::Job before = run();
  add_key(client);
  ASSERT_FALSE(before.manifest.empty());
  ASSERT_FALSE(before.outputs.empty());
  const auto history = network.store().history(before.id, {}).value();
  const auto replicas = network.store().replicas(before.id).value();

  ASSERT_TRUE(forget(client).has_value());
  for (const bool again : {false, true}) {
    if (again) network.restart();
    const store::Job after = network.store().job(before.id).value();
    EXPECT_EQ(after.name + after.manifest, "");
    EXPECT_TRUE(after.outputs.empty());
    EXPECT_EQ(after.root, before.root);
    EXPECT_EQ(network.store().history(before.id, {}).value().transactions, history.transactions);
    EXPECT_EQ(network.store().replicas(before.id).value(), replicas);
    EXPECT_TRUE(data(client)->keys.empty());
  }
}

TEST_F(OwnerDataTest, NothingGoesWhileAJobRuns) {
  const auto submitted = network.submit(client, jobs::count_manifest(2, 1), {++nonce_});
  ASSERT_TRUE(submitted.has_value());
  const JobId job = JobId::parse(submitted->id).value();

  const auto refused = forget(client);

  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("a job of this owner runs"));
  EXPECT_FALSE(network.store().job(job).value().manifest.empty());
  network.join(worker);
  EXPECT_EQ(network.finish(job).state, store::JobState::done);
  EXPECT_TRUE(forget(client).has_value());
}

// A wallet deletes only its own owner's data.
TEST_F(OwnerDataTest, EachDeletesItsOwnOnly) {
  network.join(worker);
  const store::Job job = run();
  const auto stranger = crypto::KeyPair::generate().value();

  ASSERT_TRUE(forget(stranger).has_value());

  EXPECT_EQ(network.store().job(job.id).value(), job);
}

// The data of a task are kept while pay for the task is held, because a verifier may recompute it.
TEST(OwnerData, NothingGoesWhilePayForItsTasksIsHeld) {
  OwnerDataAt at{jobs::CoreSettings()};
  at.network.verifier = true;
  at.network.invitation = trust::Invitation::none;
  at.network.join(at.worker);
  ASSERT_EQ(at.run().state, store::JobState::done);

  const auto refused = at.forget(at.client);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("may still be computed again"));

  at.network.pass(std::chrono::minutes(12));
  EXPECT_TRUE(at.forget(at.client).has_value());
}

// The attack: a client and its worker share the pay for invented results, and delete the job before
// a verifier finds them.
TEST(OwnerData, WithoutTheRuleWhatIsStillCheckedIsDeleted) {
  jobs::CoreSettings settings;
  settings.owners_forgotten_idle = false;
  OwnerDataAt at{settings};
  at.network.verifier = true;
  at.network.invitation = trust::Invitation::none;
  at.network.join(at.worker);
  const store::Job job = at.run();
  ASSERT_EQ(job.state, store::JobState::done);

  ASSERT_TRUE(at.forget(at.client).has_value());

  EXPECT_TRUE(at.network.store().job(job.id)->manifest.empty()) << "the attack";
}

TEST_F(OwnerDataTest, AConnectedWorkerKeepsItsRows) {
  TestWorker& connected = network.join(worker);
  (void)run();

  const auto refused = forget(worker);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("is connected; stop it"));

  connected.say(protocol::Bye{});
  network.run();
  ASSERT_TRUE(forget(worker).has_value());
  const auto left = data(worker);
  ASSERT_EQ(left->workers.size(), 1U) << "what its work was worth is evidence";
  EXPECT_EQ(left->workers[0].view.accepted, 2U);
  EXPECT_EQ(left->workers[0].seen, 0);
  EXPECT_TRUE(network.store().load()->presences.empty());
}

}  // namespace
}  // namespace weft::coordinator
