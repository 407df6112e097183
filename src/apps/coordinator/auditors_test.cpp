// Tests of auditors of newcomers' results, if the coordinator has no verifier. Two established
// workers that check one result both count and are paid, and a silent auditor does not block a
// result. In simulated time, with the real sessions, checks and ledger.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/coordinator/test_network.h"
#include "decisions/jobs/audits.h"
#include "decisions/jobs/core_views.h"
#include "decisions/jobs/owner_requests.h"

namespace weft::coordinator {
namespace {

using testing::HasSubstr;
using testing::Not;

class Auditors : public testing::Test {
 protected:
  explicit Auditors(const jobs::CoreSettings& settings = easily_established())
      : network(settings) {}
  static jobs::CoreSettings easily_established() {
    jobs::CoreSettings settings;
    settings.referee.defences.eligible_min = 1;
    settings.referee.value_full = 0;
    settings.referee.reputation.half = 1e-9;
    settings.referee.reputation.probation = 1e-6;
    settings.verification_permille = 300;  // The account of verification can pay all auditors.
    return settings;
  }
  void SetUp() override { network.invitation = trust::Invitation::none; }
  TestWorker& join(const jobs::Behaviour& behaviour = {}) {
    return network.join(wallet(), behaviour);
  }
  TestWorker& invited(const jobs::Behaviour& behaviour) {
    network.invitation = trust::Invitation::worker;
    TestWorker& worker = join(behaviour);
    network.invitation = trust::Invitation::none;
    return worker;
  }
  JobId submit(const std::string& manifest) {
    const auto submitted = network.submit(wallet(), manifest, {++nonce});
    EXPECT_TRUE(submitted.has_value()) << submitted.error().message;
    return JobId::parse(submitted->id).value();
  }
  std::string metrics() {
    std::string out;
    network.core().views().metrics([&](const Result<std::string>& text) { out = *text; });
    network.run();
    return out;
  }
  // The worker's pay for each accepted task of the job, by the task's index.
  static std::map<std::uint32_t, MicroCredits> paid(const TestWorker& worker, const JobId& job) {
    std::map<std::uint32_t, MicroCredits> out;
    for (const auto& verdict : worker.verdicts) {
      if (verdict.task.job == job && verdict.accepted) out[verdict.task.index] = verdict.paid;
    }
    return out;
  }
  // Adds the wallet as a device of the owner whose first wallet is `owner`.
  void add_device(const crypto::KeyPair& owner, const crypto::KeyPair& wallet) {
    Result<jobs::OwnerView> added = fail(ErrorCode::unavailable, "No answer.");
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.owners().add_device(owner.public_key(), OwnerId::of_first(owner.public_key()),
                               {.key = wallet.public_key(),
                                .owner = {},
                                .role = store::DeviceRole::full,
                                .name = "second"},
                               now, [&](const Result<jobs::OwnerView>& view) { added = view; });
    });
    network.run();
    ASSERT_TRUE(added.has_value()) << added.error().message;
  }
  crypto::KeyPair& wallet() {
    return *wallets.emplace_back(
        std::make_unique<crypto::KeyPair>(crypto::KeyPair::generate().value()));
  }

  TestNetwork network;
  std::vector<std::unique_ptr<crypto::KeyPair>> wallets;
  std::uint8_t nonce = 0;
};

TEST_F(Auditors, TwoEstablishedWorkersThatCheckOneResultAreBothPaid) {
  network.verifier = true;
  const std::array<TestWorker*, 2> established{&join(), &join()};
  for (int client = 0; client < 3; ++client) {
    ASSERT_EQ(network.finish(submit(jobs::count_manifest(64, 1))).state, store::JobState::done);
  }
  network.verifier = false;
  const TestWorker& newcomer = join();

  const JobId job = submit(jobs::count_manifest(64, 1));
  ASSERT_EQ(network.finish(job).state, store::JobState::done);

  const auto first = paid(*established[0], job);
  const auto second = paid(*established[1], job);
  const auto checked = paid(newcomer, job);
  ASSERT_FALSE(checked.empty());
  for (const auto& [task, pay] : checked) {
    ASSERT_TRUE(first.contains(task) && second.contains(task)) << "task " << task;
    EXPECT_GT(first.at(task), 0) << "task " << task;
    EXPECT_GT(second.at(task), 0) << "task " << task;
  }
  EXPECT_EQ(network.balance(ledger::Account::escrow(job)), 0);
  EXPECT_TRUE(network.store().audit().has_value());
}

// Two established wallets of one owner count as one opinion.
TEST_F(Auditors, WalletsOfOneOwnerDoNotSecondEachOther) {
  network.verifier = true;
  const crypto::KeyPair& first = wallet();
  const crypto::KeyPair& second = wallet();
  (void)network.join(first, {});
  ASSERT_EQ(network.finish(submit(jobs::count_manifest(64, 1))).state, store::JobState::done);
  add_device(first, second);  // The owner has earned credits and may add a second wallet.
  (void)network.join(second, {});
  for (int client = 0; client < 3; ++client) {
    ASSERT_EQ(network.finish(submit(jobs::count_manifest(64, 1))).state, store::JobState::done);
  }
  network.verifier = false;
  const TestWorker& newcomer = join();

  const JobId job = submit(jobs::count_manifest(64, 1));
  (void)network.finish(job, std::chrono::minutes(2));
  EXPECT_TRUE(paid(newcomer, job).empty()) << "one owner's two wallets decided";

  (void)invited({});
  EXPECT_EQ(network.finish(job, std::chrono::minutes(5)).state, store::JobState::done);
  EXPECT_FALSE(paid(newcomer, job).empty()) << "a root checked it";
}

TEST_F(Auditors, AnOwnersWalletDoesNotCheckItsOther) {
  network.verifier = true;
  const crypto::KeyPair& first = wallet();
  const crypto::KeyPair& second = wallet();
  (void)network.join(first, {});
  (void)network.join(second, {});
  for (int client = 0; client < 3; ++client) {
    ASSERT_EQ(network.finish(submit(jobs::count_manifest(64, 1))).state, store::JobState::done);
  }
  network.verifier = false;
  const crypto::KeyPair& fresh = wallet();
  add_device(first, fresh);
  const TestWorker& newcomer = network.join(fresh, {});

  const JobId job = submit(jobs::count_manifest(64, 1));
  (void)network.finish(job, std::chrono::minutes(2));

  EXPECT_TRUE(paid(newcomer, job).empty()) << "its owner's other wallet seconded it";
}

TEST_F(Auditors, ASilentAuditorIsCountedAndAskedAgainWhereThereIsNoOther) {
  TestWorker& only = invited({.answers_below = 1});  // This worker answers only the canary.
  const JobId job = submit(jobs::count_manifest(16, 1));
  const TestWorker& newcomer = join();
  (void)network.finish(job, std::chrono::seconds(50));
  EXPECT_TRUE(paid(newcomer, job).empty());
  EXPECT_THAT(metrics(), Not(HasSubstr("\nweft_audits_unanswered_total 0\n")));

  only.behaviour = {};
  (void)network.finish(job, std::chrono::minutes(2));

  EXPECT_FALSE(paid(newcomer, job).empty()) << "its result is checked";
  EXPECT_TRUE(network.store().audit().has_value());
}

TEST_F(Auditors, AfterASilentAuditorAnotherOneIsDrawn) {
  const TestWorker& silent = invited({.answers_below = 1});
  const JobId job = submit(jobs::count_manifest(16, 1));
  (void)join();
  (void)network.finish(job, std::chrono::seconds(5));
  (void)invited({});

  EXPECT_EQ(network.finish(job, std::chrono::minutes(5)).state, store::JobState::done);
  for (const auto& [task, pay] : paid(silent, job)) EXPECT_EQ(task, 0U) << "none for silence";
}

// Results that a root confirms count for a newcomer, but it is far from established.
class AuditorsOfPartlyKnownWorkers : public Auditors {
 protected:
  static jobs::CoreSettings evidence_of_few() {
    jobs::CoreSettings settings;
    settings.referee.defences.eligible_min = 1;
    settings.referee.value_full = 0;
    return settings;
  }
  AuditorsOfPartlyKnownWorkers() : Auditors(evidence_of_few()) {}
};

// The verifier has confirmed the newcomer's first results, so that auditing one of four parts of
// each later result is enough.
TEST_F(AuditorsOfPartlyKnownWorkers, ComputeThePartsThatAreWantedAndNotTheWholeTask) {
  network.verifier = true;
  const TestWorker& newcomer = join();
  ASSERT_EQ(network.finish(submit(jobs::count_manifest(16, 1))).state, store::JobState::done);
  network.verifier = false;
  const TestWorker& auditor = invited({});

  const JobId job = submit(jobs::count_manifest(64, 1));
  ASSERT_EQ(network.finish(job, std::chrono::minutes(5)).state, store::JobState::done);

  const auto by_newcomer = paid(newcomer, job);
  ASSERT_FALSE(by_newcomer.empty());
  for (const auto& [task, pay] : by_newcomer) {
    std::vector<std::uint32_t> workgroups;
    for (const auto& lease : auditor.leases) {
      for (const auto& each : lease.tasks) {
        if (lease.job == job && each.index == task) workgroups.push_back(each.count);
      }
    }
    EXPECT_EQ(workgroups, std::vector<std::uint32_t>{1}) << "task " << task;
  }
}

}  // namespace
}  // namespace weft::coordinator
