// Tests of owners: one balance serves for earning and spending. Granted credits, and earnings from
// them, are spent first and can only be spent, not staked. In simulated time, with the real
// sessions, checks and ledger.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/coordinator/test_network.h"
#include "common/protocol/versions.h"
#include "decisions/jobs/client_keys.h"
#include "decisions/jobs/job_life.h"
#include "decisions/jobs/owner_requests.h"
#include "decisions/jobs/stakes.h"

namespace weft::coordinator {
namespace {

using ledger::Account;
using ledger::Funds;
using testing::HasSubstr;

OwnerId owner_of(const crypto::KeyPair& wallet) { return OwnerId::of_first(wallet.public_key()); }

jobs::CoreSettings staking_settings() {
  jobs::CoreSettings settings = TestNetwork::by_heads();
  settings.stakes_open = true;
  settings.stake_permille = 500;
  settings.stake_target = 1'000'000'000;
  return settings;
}

class OwnersTest : public testing::Test {
 protected:
  OwnersTest() : network(staking_settings()) {
    network.taint_grants = true;
    network.restart();
  }
  store::Job run(const crypto::KeyPair& client, std::uint32_t tasks, std::uint32_t replicas) {
    const auto submitted =
        network.submit(client, jobs::count_manifest(tasks, replicas), {++nonce_});
    EXPECT_TRUE(submitted.has_value()) << submitted.error().message;
    return network.finish(JobId::parse(submitted->id).value());
  }
  Funds funds(const crypto::KeyPair& wallet) const {
    return {.free = network.balance(Account::owner(owner_of(wallet))),
            .granted = network.balance(Account::granted(owner_of(wallet)))};
  }
  Result<jobs::StakeView> stake(const crypto::KeyPair& wallet, MicroCredits amount) {
    Result<jobs::StakeView> answer = fail(ErrorCode::unavailable, "No answer.");
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.stakes().move({.wallet = wallet.public_key(), .amount = amount, .number = ++nonce_}, now,
                         [&](const Result<jobs::StakeView>& view) { answer = view; });
    });
    network.run();
    return answer;
  }

  TestNetwork network;
  crypto::KeyPair client = crypto::KeyPair::generate().value();
  crypto::KeyPair a = crypto::KeyPair::generate().value();
  crypto::KeyPair b = crypto::KeyPair::generate().value();
  std::uint8_t nonce_ = 0;
};

// A wallet pays its granted credits to its own second wallet for work. The second wallet cannot
// stake any of them, by hand or from its pay.
TEST_F(OwnersTest, GrantsThatASecondWalletEarnsStayGrantedAndAreNoStake) {
  network.join(a);
  network.join(b);

  const auto job = run(client, 6, 2);

  ASSERT_EQ(job.state, store::JobState::done) << job.reason;
  const Funds earned = funds(a);
  EXPECT_EQ(earned.free, 0);
  EXPECT_GT(earned.granted, 0);
  EXPECT_EQ(network.balance(Account::stake(owner_of(a))), 0);
  EXPECT_EQ(funds(client),
            (Funds{.free = 0, .granted = TestNetwork::grant - earned.granted - funds(b).granted}));
  EXPECT_EQ(stake(a, 1).error().code, ErrorCode::insufficient_funds);
  EXPECT_EQ(network.balance(Account::escrow_granted(job.id)), 0);
  EXPECT_TRUE(network.store().audit().has_value());
}

// An owner can spend what it has earned: a worker's wallet submits a job.
TEST_F(OwnersTest, WhatAWorkerEarnsPaysForItsOwnJobs) {
  network.taint_grants = false;
  network.restart();
  network.join(a);
  network.join(b);
  ASSERT_EQ(run(client, 40, 2).state, store::JobState::done);
  const MicroCredits before = funds(a).free;
  ASSERT_GT(before, 0);
  EXPECT_GT(network.balance(Account::stake(owner_of(a))), 0) << "free credits do grow a stake";

  const auto submitted = network.submit(a, jobs::count_manifest(2, 1), {++nonce_});

  ASSERT_TRUE(submitted.has_value()) << submitted.error().message;
  EXPECT_EQ(network.finish(JobId::parse(submitted->id).value()).state, store::JobState::done);
}

// A worker or page of another protocol version gets the reason in its own version, and is told
// which command to run.
TEST_F(OwnersTest, ASideOfAnotherVersionIsToldHowToUpdateInWordsThatItReads) {
  const auto refusal = [&](const std::string& hello) {
    auto& worker = network.connect(a);
    worker.hears_texts = true;
    worker.line->on_text(hello);
    network.run();
    EXPECT_TRUE(worker.closed);
    return worker.texts.size() == 1 ? worker.texts[0] : "";
  };
  const std::string later =
      refusal(R"({"type":"hello","v":9,"versions":[9,10],"kind":"native","unknown":{}})");
  EXPECT_THAT(later, HasSubstr(R"("type":"error","v":9,"code":"unsupported")"));
  EXPECT_THAT(later, HasSubstr("This worker speaks versions 9 to 10 of the protocol"));
  EXPECT_THAT(later, HasSubstr("git pull && ./weft serve ..."));
  // The Hello of a page of version 1, as it was released.
  std::ostringstream released;
  released << std::ifstream(std::filesystem::path(WEFT_SOURCE_DIR) /
                            "src/common/protocol/testdata/v1/worker.hello.json")
                  .rdbuf();
  ASSERT_THAT(released.str(), HasSubstr(R"("versions":[1])"));
  EXPECT_EQ(refusal(released.str()),
            R"({"type":"error","v":1,"code":"unsupported","message":"This page speaks version 1 )"
            R"(of the protocol and the coordinator versions 7 to 8: reload the page."})");
  std::string worker = released.str();
  const std::string browser = R"("kind":"browser")";
  ASSERT_THAT(worker, HasSubstr(browser));
  worker.replace(worker.find(browser), browser.size(), R"("kind":"native")");
  EXPECT_THAT(refusal(worker), HasSubstr("update the worker with `git pull && ./weft work ...`."));
}

// A worker of an older version that is still spoken refuses frames of a later one.
TEST_F(OwnersTest, AWorkerHearsEveryFrameInTheVersionThatWasChosen) {
  for (const std::uint32_t chosen : protocol::version_list()) {
    SCOPED_TRACE(chosen);
    auto& worker = network.connect(a);
    worker.hears_texts = true;
    protocol::Hello hello;
    hello.versions = {chosen};
    hello.key = a.public_key();
    hello.slots = 4;
    worker.line->on_text(protocol::encode(protocol::WorkerMessage(hello), chosen));
    network.run();
    ASSERT_THAT(worker.texts, testing::SizeIs(1));
    const auto asked = std::get<protocol::Challenge>(
        protocol::decode_coordinator_message(worker.texts[0]).value());
    EXPECT_EQ(asked.version, chosen);
    worker.line->on_text(
        protocol::encode(protocol::WorkerMessage(
                             protocol::Prove{.signature = a.sign_now(protocol::hello_digest(
                                                 asked.coordinator, asked.nonce, a.public_key()))}),
                         chosen));
    network.run();
    // The held task has no proof, so it is cancelled.
    protocol::Resume resume{.held = {{.attempt = 1}}};
    worker.line->on_text(protocol::encode(protocol::WorkerMessage(resume), chosen));
    network.run();
    worker.line->on_text("nonsense");
    network.run();

    ASSERT_THAT(worker.texts, testing::SizeIs(4)) << "challenge, welcome, cancel and error";
    for (const std::string& text : worker.texts)
      EXPECT_EQ(protocol::read_head(text).value().version, chosen) << text;
  }
}

class DevicesTest : public OwnersTest {
 protected:
  void SetUp() override { issue(a, 1'000'000); }

  void issue(const crypto::KeyPair& to, MicroCredits amount) {
    const auto done = pay({.by = network.coordinator(),
                           .to = to.public_key(),
                           .amount = amount,
                           .number = ++nonce_,
                           .source = jobs::Payment::Source::mint});
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  Result<jobs::OwnerView> pay(const jobs::Payment& payment) {
    return asked(
        [&](jobs::Core& core, jobs::Moment now, const jobs::Answer<jobs::OwnerView>& answer) {
          core.owners().pay(payment, now, answer);
        });
  }
  Result<jobs::OwnerView> settle(const jobs::Settling& settling) {
    return asked(
        [&](jobs::Core& core, jobs::Moment now, const jobs::Answer<jobs::OwnerView>& answer) {
          core.owners().settle(settling, now, answer);
        });
  }
  Result<jobs::OwnerView> add(const crypto::KeyPair& by, const crypto::KeyPair& device,
                              store::DeviceRole role = store::DeviceRole::full) {
    return asked([&](jobs::Core& core, jobs::Moment now,
                     const jobs::Answer<jobs::OwnerView>& answer) {
      core.owners().add_device(
          by.public_key(), owner_of(a),
          {.key = device.public_key(), .owner = {}, .role = role, .name = "phone"}, now, answer);
    });
  }
  Result<jobs::OwnerView> revoke(const crypto::KeyPair& by, const crypto::KeyPair& device) {
    return asked(
        [&](jobs::Core& core, jobs::Moment now, const jobs::Answer<jobs::OwnerView>& answer) {
          core.owners().revoke_device(by.public_key(), device.public_key(), now, answer);
        });
  }
  template <class Ask>
  Result<jobs::OwnerView> asked(Ask ask) {
    Result<jobs::OwnerView> out = fail(ErrorCode::unavailable, "No answer.");
    network.post([&](jobs::Core& core, jobs::Moment now) {
      ask(core, now, [&](const Result<jobs::OwnerView>& view) { out = view; });
    });
    network.run();
    return out;
  }
};

TEST_F(DevicesTest, APaymentMovesFreeCreditsOnceHoweverOftenItIsSent) {
  const jobs::Payment payment{
      .by = a.public_key(), .to = b.public_key(), .amount = 300'000, .number = 77};
  ASSERT_TRUE(pay(payment).has_value());
  ASSERT_TRUE(pay(payment).has_value());
  network.restart();
  ASSERT_TRUE(pay(payment).has_value()) << "after a restart, too";

  EXPECT_EQ(funds(a), (Funds{.free = 700'000, .granted = 0}));
  EXPECT_EQ(funds(b), (Funds{.free = 300'000, .granted = 0}));
  jobs::Payment more = payment;
  more.number = 78;
  more.amount = 700'001;
  EXPECT_EQ(pay(more).error().code, ErrorCode::insufficient_funds);
  more.amount = 0;
  EXPECT_EQ(pay(more).error().code, ErrorCode::invalid_argument);
  more.amount = 5;
  more.to = a.public_key();
  EXPECT_EQ(pay(more).error().code, ErrorCode::invalid_argument) << "to itself";
}

TEST_F(DevicesTest, FreeCreditsAreSettledOnceHoweverOftenItIsAskedAndGrantedOnesNever) {
  issue(a, 4'000'000);
  const jobs::Settling settling{.by = a.public_key(), .amount = 3'000'000, .number = 7};
  ASSERT_TRUE(settle(settling).has_value());
  ASSERT_TRUE(settle(settling).has_value());
  network.restart();
  const auto again = settle(settling);
  ASSERT_TRUE(again.has_value()) << "after a restart, too";

  EXPECT_EQ(again->balances.settled, 3'000'000);
  EXPECT_EQ(funds(a), (Funds{.free = 2'000'000, .granted = 0}));
  jobs::Settling other = settling;
  other.number = 8;
  EXPECT_EQ(settle(other).error().code, ErrorCode::insufficient_funds);
  other.amount = 999'999;
  EXPECT_EQ(settle(other).error().code, ErrorCode::invalid_argument) << "a row in each epoch";

  ASSERT_TRUE(network.submit(client, jobs::count_manifest(1, 1), {++nonce_}).has_value());
  ASSERT_GT(funds(client).granted, 1'000'000);
  const auto granted = settle({.by = client.public_key(), .amount = 1'000'000, .number = ++nonce_});
  ASSERT_FALSE(granted.has_value());
  EXPECT_THAT(granted.error().message, HasSubstr("granted credits cannot be settled"));
}

TEST_F(DevicesTest, ARevokedDeviceIsPaidNothingOnTheChain) {
  issue(a, 4'000'000);
  ASSERT_TRUE(add(a, b).has_value());
  ASSERT_TRUE(settle({.by = b.public_key(), .amount = 1'000'000, .number = 1}).has_value());
  ASSERT_TRUE(revoke(b, a).has_value());

  EXPECT_EQ(settle({.by = a.public_key(), .amount = 1'000'000, .number = 2}).error().code,
            ErrorCode::permission_denied);
  const auto to_it = settle({.by = b.public_key(), .amount = 1'000'000, .number = 3});
  ASSERT_FALSE(to_it.has_value());
  EXPECT_THAT(to_it.error().message, HasSubstr("a device that is revoked"));
  EXPECT_EQ(funds(a).free, 4'000'000);
}

TEST_F(DevicesTest, GrantedCreditsArePaidToNoOtherOwner) {
  ASSERT_TRUE(network.submit(client, jobs::count_manifest(1, 1), {++nonce_}).has_value());
  ASSERT_GT(funds(client).granted, 0);

  const auto refused =
      pay({.by = client.public_key(), .to = b.public_key(), .amount = 1, .number = ++nonce_});

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::insufficient_funds);
  EXPECT_THAT(refused.error().message, HasSubstr("granted credits cannot be transferred"));
}

TEST_F(DevicesTest, TwoDevicesEarnAndSpendOneBalance) {
  ASSERT_TRUE(add(a, b).has_value());
  issue(client, 1'000'000'000);
  network.join(b);

  const auto submitted = network.submit(client, jobs::count_manifest(4, 1), {++nonce_});
  ASSERT_TRUE(submitted.has_value()) << submitted.error().message;
  ASSERT_EQ(network.finish(JobId::parse(submitted->id).value()).state, store::JobState::done);

  EXPECT_EQ(funds(b), Funds{}) << "the phone is no owner";
  EXPECT_GT(funds(a).total() + network.balance(Account::stake(owner_of(a))), 1'000'000)
      << "what the phone earned is the owner's";
  const MicroCredits before = funds(a).total();
  const auto own = network.submit(b, jobs::count_manifest(1, 1), {++nonce_});
  ASSERT_TRUE(own.has_value()) << own.error().message;
  const MicroCredits budget = network.store().job(JobId::parse(own->id).value())->budget;
  EXPECT_GT(budget, 0);
  // The phone works on its own job, so that the owner gets the job's price back as pay.
  EXPECT_EQ(network.finish(JobId::parse(own->id).value()).state, store::JobState::done);
  EXPECT_EQ(funds(a).total(), before + TestNetwork::grant)
      << "the phone spends the owner's balance; one owner has one grant";
  EXPECT_EQ(funds(b), Funds{});
}

TEST_F(DevicesTest, ARevokedDeviceDoesNothingMoreAndWhatItIsStillPaidIsItsOwners) {
  ASSERT_TRUE(add(a, b).has_value());
  auto& worker = network.join(b, {.silent = true});
  ASSERT_TRUE(network.submit(b, jobs::count_manifest(1, 1), {++nonce_}).has_value());

  ASSERT_TRUE(revoke(a, b).has_value());

  EXPECT_TRUE(worker.closed);
  EXPECT_EQ(network.submit(b, jobs::count_manifest(1, 1), {++nonce_}).error().code,
            ErrorCode::permission_denied);
  EXPECT_EQ(pay({.by = b.public_key(), .to = client.public_key(), .amount = 1, .number = ++nonce_})
                .error()
                .code,
            ErrorCode::permission_denied);
  auto& again = network.connect(b);
  again.connect();
  network.run();
  EXPECT_TRUE(again.closed) << "it does not come back as a worker";
  network.restart();
  EXPECT_EQ(revoke(b, a).error().code, ErrorCode::permission_denied) << "after a restart, too";
  EXPECT_EQ(add(b, client).error().code, ErrorCode::permission_denied);
}

TEST_F(DevicesTest, AKeyThatHoldsCreditsJoinsNoOtherOwner) {
  issue(b, 5);
  EXPECT_EQ(add(a, b).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(add(client, b).error().code, ErrorCode::permission_denied)
      << "a stranger adds to another owner";
}

// Refunds of the key's jobs would unite the grants of many owners, and its API keys would spend
// another owner's credits.
TEST_F(DevicesTest, AKeyWithARunningJobOrAnApiKeyJoinsNoOtherOwner) {
  constexpr auto all = static_cast<std::uint32_t>(TestNetwork::grant / 1'000'000);
  const auto submitted = network.submit(b, jobs::count_manifest(1, 1, "", all), {++nonce_});
  ASSERT_TRUE(submitted.has_value()) << submitted.error().message;
  ASSERT_EQ(funds(b), Funds{}) << "all that it was granted stands in the escrow";
  const auto running = add(a, b);
  ASSERT_FALSE(running.has_value());
  EXPECT_THAT(running.error().message, HasSubstr("has a running job"));

  issue(client, 5);
  network.post([&](jobs::Core& core, jobs::Moment now) {
    core.keys().add({.id = "k", .name = "k", .hash = {}, .owner = client.public_key()},
                    billing::KeyMaker::client, 0, now, [](const auto&) {});
  });
  network.run();
  // This client's grant is in an escrow too, and its free credits are paid to another owner.
  ASSERT_TRUE(network.submit(client, jobs::count_manifest(1, 1, "", all), {++nonce_}).has_value());
  ASSERT_TRUE(
      pay({.by = client.public_key(), .to = a.public_key(), .amount = 5, .number = ++nonce_})
          .has_value());
  ASSERT_EQ(funds(client), Funds{});
  const auto with_keys = add(a, client);
  ASSERT_FALSE(with_keys.has_value());
  EXPECT_THAT(with_keys.error().message, HasSubstr("has made API keys"));
}

TEST_F(DevicesTest, AnOwnerWithoutCreditsCostsNoRows) {
  ASSERT_TRUE(pay({.by = a.public_key(),
                   .to = client.public_key(),
                   .amount = 1'000'000,
                   .number = ++nonce_})
                  .has_value());
  EXPECT_EQ(add(a, b).error().code, ErrorCode::insufficient_funds);
}

TEST_F(DevicesTest, ARecoveryKeyIsNoWalletAndItsOwnersJobsAreCancelledFromAnyOtherDevice) {
  const crypto::KeyPair drawer = crypto::KeyPair::generate().value();
  ASSERT_TRUE(add(a, drawer, store::DeviceRole::recovery).has_value());
  ASSERT_TRUE(add(a, b).has_value());
  EXPECT_EQ(network.submit(drawer, jobs::count_manifest(1, 1), {++nonce_}).error().code,
            ErrorCode::permission_denied);
  const auto submitted = network.submit(a, jobs::count_manifest(1, 1), {++nonce_});
  ASSERT_TRUE(submitted.has_value()) << submitted.error().message;
  std::optional<Result<protocol::api::Submitted>> cancelled;
  network.post([&](jobs::Core& core, jobs::Moment now) {
    core.jobs().cancel({.job = JobId::parse(submitted->id).value(), .client = b.public_key()}, now,
                       [&](const auto& answer) { cancelled = answer; });
  });
  network.run();
  ASSERT_TRUE(cancelled && cancelled->has_value());
  EXPECT_EQ(funds(a), (Funds{.free = 1'000'000, .granted = TestNetwork::grant}))
      << "all of it is back";
}

}  // namespace
}  // namespace weft::coordinator
