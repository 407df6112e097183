// Strangers beside trusted workers, with the coordinator's own verifier: results of free wallets
// decide nothing. In simulated time, with the real sessions, checks, verifier and ledger. Each
// attack is also played without the defences, where it succeeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/coordinator/test_network.h"
#include "decisions/jobs/core_views.h"
#include "decisions/jobs/stakes.h"
#include "decisions/jobs/standings.h"

namespace weft::coordinator {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

jobs::CoreSettings counted(bool levels) {
  jobs::CoreSettings settings;
  settings.count_levels(levels);
  return settings;
}

// Returns the result that all attackers deliver.
ByteVector zeros(const protocol::LeasedTask& task) {
  return ByteVector(std::size_t{4} * task.count);
}

class LevelsNetwork : public testing::Test {
 protected:
  static constexpr std::uint32_t tasks = 16;

  void open(bool levels = true, bool verifier = true) {
    network = std::make_unique<TestNetwork>(counted(levels));
    network->verifier = verifier;
    network->invitation = trust::Invitation::none;
  }
  crypto::KeyPair& wallet() {
    return *wallets.emplace_back(
        std::make_unique<crypto::KeyPair>(crypto::KeyPair::generate().value()));
  }
  std::vector<TestWorker*> join(std::size_t count, const jobs::Behaviour& behaviour = {}) {
    std::vector<TestWorker*> joined;
    for (std::size_t i = 0; i < count; ++i) joined.push_back(&network->join(wallet(), behaviour));
    return joined;
  }
  TestWorker& invited(const jobs::Behaviour& behaviour = {}) {
    network->invitation = trust::Invitation::worker;
    TestWorker& worker = network->join(wallet(), behaviour);
    network->invitation = trust::Invitation::none;
    return worker;
  }
  JobId submit(const crypto::KeyPair& client, const std::string& manifest) {
    const auto submitted = network->submit(client, manifest, {++nonce});
    EXPECT_TRUE(submitted.has_value()) << submitted.error().message;
    return JobId::parse(submitted->id).value();
  }
  store::Job run(const std::string& manifest) {
    return network->finish(submit(wallet(), manifest));
  }
  // The number of tasks of the job with wrong bytes.
  std::size_t wrong_tasks(const store::Job& job) {
    EXPECT_TRUE(store::has_results(job.state)) << job.reason;
    if (!store::has_results(job.state)) return tasks;
    const ByteVector bytes = network->output(job);
    std::size_t wrong = 0;
    for (std::uint32_t task = 0; task < job.tasks; ++task) {
      ByteVector right;
      for (std::uint32_t i = task * 4; i < (task + 1) * 4; ++i) append_le(right, i);
      wrong +=
          std::ranges::equal(ByteSpan(bytes).subspan(std::size_t{task} * 16, 16), right) ? 0 : 1;
    }
    return wrong;
  }
  MicroCredits held(const TestWorker& worker) const {
    return network->balance(ledger::Account::held(OwnerId::of_first(worker.key.public_key())));
  }
  MicroCredits spendable(const TestWorker& worker) const {
    return network->balance(ledger::Account::owner(OwnerId::of_first(worker.key.public_key())));
  }
  // Credits that convictions have brought to the verification account.
  MicroCredits forfeited() {
    MicroCredits sum = 0;
    const auto account = ledger::Account::verification();
    for (const auto& posted : network->store().history(account, {.count = 1000})->transactions) {
      if (!posted.key.starts_with("forfeit:")) continue;
      for (const auto& movement : posted.movements)
        sum += movement.account == account ? movement.amount : 0;
    }
    return sum;
  }
  MicroCredits owned(const TestWorker& worker) const { return held(worker) + spendable(worker); }

  std::unique_ptr<TestNetwork> network;
  std::vector<std::unique_ptr<crypto::KeyPair>> wallets;
  std::uint8_t nonce = 0;
};

TEST_F(LevelsNetwork, AStrangersWorkIsAcceptedWhenTheVerifierHasComputedItAgain) {
  open();
  const auto strangers = join(2);

  const auto job = run(jobs::count_manifest(tasks, 1));

  EXPECT_EQ(wrong_tasks(job), 0U);
  EXPECT_GE(network->verified, tasks) << "a part of every task";
  EXPECT_GT(owned(*strangers[0]) + owned(*strangers[1]), 0);
}

// The client is responsible for a shader whose result changes with the range around it or from run
// to run.
TEST_F(LevelsNetwork, AJobOfWhichTheVerifierItselfComputesDifferentThingsEndsAndPaysWhatRan) {
  for (const auto unsteady : {CountRunner::Unsteady::by_range, CountRunner::Unsteady::by_run}) {
    open();
    network->verifier_unsteady = unsteady;
    auto& stranger = *join(1).front();
    const auto& client = wallet();
    // The operator's worker runs the canary, so that the job has a price.
    TestWorker& trusted = invited({.answers_below = 1});
    const JobId id = submit(client, jobs::count_manifest(tasks, 1));

    const store::Job job = network->finish(id);

    EXPECT_EQ(job.state, store::JobState::failed);
    EXPECT_THAT(job.reason, testing::StartsWith("not reproducible: The verifier computes different "
                                                "values for the same part"));
    EXPECT_GT(owned(stranger), 0) << "its client pays for what ran";
    EXPECT_EQ(held(stranger), owned(stranger)) << "but not at once";
    EXPECT_GT(owned(trusted), 0);
    const auto counts = network->store().load()->reputations;
    EXPECT_TRUE(std::ranges::all_of(counts, [](const auto& each) { return each.refused == 0; }));
    EXPECT_TRUE(network->store().load()->standings.empty() ||
                network->store().load()->standings.front().suspended_until == 0);
    EXPECT_TRUE(network->store().audit().has_value());
    EXPECT_EQ(network->balance(ledger::Account::escrow(id)), 0);
    const MicroCredits earned = owned(stranger);
    network->pass(std::chrono::minutes(12));
    EXPECT_EQ(held(stranger), 0);
    EXPECT_EQ(spendable(stranger), earned);
  }
}

TEST_F(LevelsNetwork, ZerosOfTwoFreshWalletsAreNotAccepted) {
  open();
  const auto attackers = join(2, {.compute = zeros});

  const auto id = submit(wallet(), jobs::count_manifest(tasks, 2));
  const auto job = network->finish(id);

  EXPECT_NE(job.state, store::JobState::done);
  for (const TestWorker* attacker : attackers) EXPECT_EQ(owned(*attacker), 0);

  open(false);
  join(2, {.compute = zeros});
  EXPECT_EQ(wrong_tasks(run(jobs::count_manifest(tasks, 2))), tasks)
      << "where heads are counted the two of them decide";
}

TEST_F(LevelsNetwork, AHundredFreshWalletsBesideHonestOnesGetNothingWrongAccepted) {
  open();
  join(4);
  const auto attackers = join(100, {.compute = zeros});

  EXPECT_EQ(wrong_tasks(run(jobs::count_manifest(tasks, 2, "", 1000))), 0U);
  for (const TestWorker* attacker : attackers) EXPECT_EQ(owned(*attacker), 0);

  open(false);
  join(4);
  join(100, {.compute = zeros});
  EXPECT_GT(wrong_tasks(run(jobs::count_manifest(tasks, 2, "", 1000))), tasks / 2);
}

TEST_F(LevelsNetwork, OneWrongElementOfANewWalletsFirstResultsIsFound) {
  open();
  join(2, {.wrong_byte = true});
  invited({.answers_below = 4});

  const auto job = run(jobs::count_manifest(4, 1));

  EXPECT_EQ(wrong_tasks(job), 0U);
}

TEST_F(LevelsNetwork, SlanderersConvictNoWorker) {
  for (const bool levels : {true, false}) {
    open(levels);
    network->invitation = trust::Invitation::none;
    TestWorker& honest = *join(1).front();
    join(6, {.compute = zeros});
    // A job of the attackers, in which the honest worker's results disagree with all others.
    (void)network->finish(submit(wallet(), jobs::count_manifest(tasks, 3, "", 1000)));

    const auto standings = network->store().load()->standings;
    const bool suspended = std::ranges::any_of(standings, [&](const store::Standing& each) {
      return each.worker == honest.key.public_key() && each.suspended_until > 0;
    });
    EXPECT_EQ(suspended, !levels);
  }
}

TEST_F(LevelsNetwork, StrangersThatFailTheCanaryEndNoJob) {
  open();
  join(6, {.fails = true});
  invited();

  EXPECT_EQ(wrong_tasks(run(jobs::count_manifest(tasks, 1))), 0U);

  open(false);
  join(6, {.fails = true});
  EXPECT_EQ(run(jobs::count_manifest(tasks, 1)).state, store::JobState::failed);
}

TEST_F(LevelsNetwork, WithoutAVerifierAStrangersWorkWaitsForATrustedWorker) {
  open(true, false);
  join(2);
  const auto id = submit(wallet(), jobs::count_manifest(tasks, 1));
  EXPECT_EQ(network->finish(id, std::chrono::seconds(60)).state, store::JobState::running);

  invited();

  EXPECT_EQ(wrong_tasks(network->finish(id)), 0U);
}

// A tab never verifies, even with the operator's invitation, because any page could run in it.
TEST_F(LevelsNetwork, TabsNeverVerifyForOthers) {
  open(true, false);
  TestWorker& trusted = invited({.answers_below = 1});  // This worker answers only the canary.
  const JobId job = submit(wallet(), jobs::count_manifest(tasks, 1));
  network->run();
  trusted.line->on_closed();
  const TestWorker& stranger = *join(1).front();
  network->run();
  ASSERT_FALSE(stranger.handed.empty());

  network->invitation = trust::Invitation::worker;
  const TestWorker& tab = network->join(wallet(), {}, protocol::WorkerKind::browser);
  network->invitation = trust::Invitation::none;
  EXPECT_EQ(network->finish(job, std::chrono::seconds(60)).state, store::JobState::running);

  EXPECT_FALSE(tab.handed.empty()) << "it runs tasks of its own";
  for (const auto& [run, bytes] : tab.handed) {
    EXPECT_TRUE(std::ranges::none_of(stranger.handed, [&](const auto& each) {
      return each.first.first == run.first;
    })) << run.first.text();
  }
  (void)invited();
  EXPECT_EQ(wrong_tasks(network->finish(job)), 0U);
}

TEST_F(LevelsNetwork, AVerifierThatCannotRunTheJobMakesItWaitAndBlamesNoWorker) {
  open();
  network->verifier_fails = true;
  const auto strangers = join(2);
  const auto id = submit(wallet(), jobs::count_manifest(tasks, 1));
  EXPECT_EQ(network->finish(id, std::chrono::seconds(60)).state, store::JobState::running);

  invited();

  EXPECT_EQ(wrong_tasks(network->finish(id)), 0U);
  EXPECT_THAT(network->store().load()->standings,
              Each(testing::Field(&store::Standing::suspended_until, 0)));
}

TEST_F(LevelsNetwork, PayOfAStrangerIsFreeAfterTenMinutesThoughItHasLeft) {
  open();
  TestWorker& stranger = *join(1).front();
  (void)run(jobs::count_manifest(tasks, 1));
  EXPECT_EQ(spendable(stranger), 0);
  const MicroCredits earned = held(stranger);
  EXPECT_GT(earned, 0);
  stranger.line->on_closed();
  network->pass(std::chrono::minutes(9));
  EXPECT_EQ(spendable(stranger), 0);

  network->pass(std::chrono::minutes(2));

  EXPECT_EQ(spendable(stranger), earned);
  EXPECT_EQ(held(stranger), 0);
}

TEST_F(LevelsNetwork, PayThatIsHeldOutlivesTheCoordinator) {
  open();
  const PublicKey stranger = join(1).front()->key.public_key();
  (void)run(jobs::count_manifest(tasks, 1));
  const auto account = ledger::Account::owner(OwnerId::of_first(stranger));

  network->pass(std::chrono::minutes(5));
  network->restart();
  network->pass(std::chrono::minutes(9));
  EXPECT_EQ(network->balance(account), 0) << "its time starts again";
  network->pass(std::chrono::minutes(2));

  EXPECT_GT(network->balance(account), 0);
}

// One client can give its workers only a tenth of the evidence that establishes a worker. If a
// restart forgot the given evidence, the client could give as much again after each restart.
TEST_F(LevelsNetwork, ARestartForgetsNothingOfWhatAClientHasGivenOfAStanding) {
  open();
  std::vector<crypto::KeyPair*> keys(10);
  for (auto& key : keys) key = &wallet();
  const auto join_all = [&] {
    for (const auto* key : keys) network->join(*key);
  };
  const auto most = [&] {
    double reputation = 0;
    for (const auto* key : keys) {
      network->post([&](jobs::Core& core, jobs::Moment now) {
        core.stakes().show(key->public_key(), now, [&](const Result<jobs::StakeView>& view) {
          reputation = std::max(reputation, view->reputation);
        });
      });
    }
    network->run();
    // Number of confirmations that give this reputation.
    return 10 * reputation / (1 - reputation);
  };
  const crypto::KeyPair& client = wallet();
  const auto give = [&](const crypto::KeyPair& from) {
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(store::has_results(
          network->finish(submit(from, jobs::count_manifest(4 * tasks, 1))).state));
  };
  join_all();
  give(client);
  ASSERT_GT(most(), 0);
  ASSERT_FALSE(network->store().load()->client_shares.empty());

  for (int restart = 0; restart < 3; ++restart) {
    network->restart();
    join_all();
    give(client);
  }

  EXPECT_LE(most(), trust::Evidence::client_floor + 1e-9);
  give(wallet());
  EXPECT_GT(most(), 1.5) << "another client gives more";
}

TEST_F(LevelsNetwork, TrustedWorkersArePaidAtOnce) {
  open();
  TestWorker& trusted = invited();

  (void)run(jobs::count_manifest(tasks, 1));

  EXPECT_GT(spendable(trusted), 0);
  EXPECT_EQ(held(trusted), 0);
}

TEST_F(LevelsNetwork, TwoPercentOfWhatAJobCostsGoToTheVerificationAccount) {
  for (const std::uint32_t permille : {20U, 0U}) {
    jobs::CoreSettings settings;
    settings.verification_permille = permille;
    network = std::make_unique<TestNetwork>(settings);
    TestWorker& trusted = invited();

    const auto job = run(jobs::count_manifest(tasks, 1));

    ASSERT_EQ(job.state, store::JobState::done);
    const MicroCredits account = network->balance(ledger::Account::verification()) +
                                 network->balance(ledger::Account::verification_granted());
    EXPECT_EQ(account, job.price * permille / 1000);
    EXPECT_EQ(spendable(trusted), job.price - account);
    EXPECT_EQ(network->balance(ledger::Account::escrow(job.id)), 0);
    EXPECT_TRUE(network->store().audit().has_value());
  }
}

// The coordinator has no verifier of its own. A job of one replica returns nothing that its auditor
// could be paid from.
TEST_F(LevelsNetwork, AnInvitedVerifierIsPaidFromTheVerificationAccount) {
  for (const std::uint32_t permille : {20U, 0U}) {
    jobs::CoreSettings settings;
    settings.verification_permille = permille;
    network = std::make_unique<TestNetwork>(settings);
    TestWorker& trusted = invited();
    (void)run(jobs::count_manifest(64, 1));  // Fills the account that pays verifiers.
    trusted.line->on_closed();
    network->run();
    network->invitation = trust::Invitation::verifier;
    TestWorker& verifier = network->join(wallet());
    network->invitation = trust::Invitation::none;
    (void)join(2);
    (void)run(jobs::count_manifest(64, 1));

    MicroCredits paid = 0;
    const auto account = ledger::Account::verification();
    for (const auto& posted : network->store().history(account, {.count = 1000})->transactions) {
      if (!posted.key.starts_with("verify:")) continue;
      for (const auto& movement : posted.movements) {
        if (movement.account ==
            ledger::Account::owner(OwnerId::of_first(verifier.key.public_key())))
          paid += movement.amount;
      }
    }
    EXPECT_EQ(paid > 0, permille > 0) << paid;
    EXPECT_TRUE(network->store().audit().has_value());
  }
}

TEST_F(LevelsNetwork, AConvictedWorkerLosesThePayThatIsHeldAndNoPartyGainsIt) {
  for (const std::chrono::minutes held_for : {std::chrono::minutes(10), std::chrono::minutes(0)}) {
    jobs::CoreSettings settings;
    settings.pay_held_for = held_for;
    network = std::make_unique<TestNetwork>(settings);
    network->verifier = true;
    network->invitation = trust::Invitation::none;
    TestWorker& sleeper = *join(1).front();
    (void)run(jobs::count_manifest(tasks, 1));
    const MicroCredits earned = owned(sleeper);
    EXPECT_GT(earned, 0);

    sleeper.behaviour.compute = zeros;
    for (int client = 0; client < 2; ++client) {
      const JobId job = submit(wallet(), jobs::count_manifest(tasks, 1));
      TestWorker& trusted = invited();  // This worker redoes refused tasks.
      EXPECT_EQ(wrong_tasks(network->finish(job)), 0U);
      trusted.line->on_closed();
      network->run();
    }

    const auto standings = network->store().load()->standings;
    EXPECT_TRUE(std::ranges::any_of(standings, [&](const store::Standing& each) {
      return each.worker == sleeper.key.public_key() && each.suspended_until > 0;
    }));
    const bool holds = held_for > std::chrono::minutes(0);
    EXPECT_EQ(owned(sleeper), holds ? 0 : earned);
    EXPECT_EQ(forfeited(), holds ? earned : 0);
  }
}

// A convicted worker had two jobs accepted. Its result in one job is right. In the other job two
// workers agreed on zeros, and were believed because one of them was invited.
TEST_F(LevelsNetwork, OnlyThePayForTheWrongTasksOfAConvictedWorkerIsRefunded) {
  for (const bool restarts : {false, true}) {
    open();
    TestWorker* sleeper = join(1).front();
    crypto::KeyPair& key = *wallets.back();
    (void)run(jobs::count_manifest(tasks, 1));
    const MicroCredits for_right = held(*sleeper);
    EXPECT_GT(for_right, 0);
    crypto::KeyPair& deceived = wallet();
    const auto has = [&] {
      return network->balance(ledger::Account::owner(OwnerId::of_first(deceived.public_key())));
    };
    sleeper->behaviour.compute = zeros;
    TestWorker& accomplice = invited({.compute = zeros});
    const auto wrong = network->finish(submit(deceived, jobs::count_manifest(tasks, 2)));
    EXPECT_EQ(wrong_tasks(wrong), tasks);
    accomplice.line->on_closed();
    network->run();
    const MicroCredits for_wrong = held(*sleeper) - for_right;
    ASSERT_GT(for_wrong, 0);
    const MicroCredits left = has();
    if (restarts) {
      network->restart();
      sleeper = &network->join(key, {.compute = zeros});
    }

    for (int client = 0; client < 2; ++client) {
      const JobId job = submit(wallet(), jobs::count_manifest(tasks, 1));
      TestWorker& trusted = invited();
      EXPECT_EQ(wrong_tasks(network->finish(job)), 0U);
      trusted.line->on_closed();
      network->run();
    }

    EXPECT_EQ(owned(*sleeper), 0);
    // The accomplice keeps its pay. The client is refunded for that pay too, as far as the
    // conviction has taken credits.
    EXPECT_GT(has(), left + for_wrong);
    EXPECT_LE(has(), left + for_wrong + for_right);
    EXPECT_EQ(forfeited(), for_right);
    const auto corrected = network->store().job(wrong.id).value();
    EXPECT_EQ(corrected.state, store::JobState::corrected);
    EXPECT_EQ(wrong_tasks(corrected), 0U);
    EXPECT_TRUE(network->store().load()->held_pays.empty());
    EXPECT_TRUE(network->store().audit().has_value());
  }
}

TEST_F(LevelsNetwork, WithoutAVerifierNoTaskIsKnownToBeWrongAndAllHeldPayGoesToVerifiers) {
  open();
  TestWorker& sleeper = *join(1).front();
  (void)run(jobs::count_manifest(tasks, 1));
  const MicroCredits earned = held(sleeper);
  sleeper.behaviour.compute = zeros;
  for (int client = 0; client < 2; ++client) {
    const JobId job = submit(wallet(), jobs::count_manifest(tasks, 1));
    if (client == 1) {
      network->run();
      network->verifier = false;  // The verifier has found the mismatch by now.
    }
    TestWorker& trusted = invited();
    EXPECT_EQ(wrong_tasks(network->finish(job)), 0U);
    trusted.line->on_closed();
    network->run();
  }

  EXPECT_EQ(owned(sleeper), 0);
  EXPECT_EQ(forfeited(), earned);
  EXPECT_TRUE(network->store().load()->held_pays.empty());
}

TEST_F(LevelsNetwork, TheOperatorIsToldWhereResultsWaitForACheckForTenMinutes) {
  open(true, false);
  TestWorker& trusted = invited({.answers_below = 1});  // This worker answers only the canary.
  const JobId job = submit(wallet(), jobs::count_manifest(tasks, 1));
  network->run();
  trusted.line->on_closed();
  (void)join(1);
  network->run();
  const auto metrics = [&] {
    std::string out;
    network->core().views().metrics([&](const Result<std::string>& text) { out = *text; });
    network->run();
    return out;
  };

  (void)network->finish(job, std::chrono::minutes(9));
  EXPECT_THAT(metrics(), HasSubstr("\nweft_samples_waiting 1\n"));
  EXPECT_THAT(metrics(), HasSubstr("\nweft_samples_lag_total 0\n"));
  (void)network->finish(job, std::chrono::minutes(3));
  EXPECT_THAT(metrics(), HasSubstr("\nweft_samples_lag_total 1\n"));

  (void)invited();  // This worker checks the waiting result.
  (void)network->finish(job);
  EXPECT_THAT(metrics(), HasSubstr("\nweft_samples_waiting 0\n"));
}

TEST_F(LevelsNetwork, TheOperatorPardonsAWorkerThatWasConvictedAndThatAtOnce) {
  open();
  TestWorker& suspect = *join(1, {.compute = zeros}).front();
  for (int client = 0; client < 2; ++client) {
    const JobId job = submit(wallet(), jobs::count_manifest(tasks, 1));
    TestWorker& trusted = invited();
    EXPECT_EQ(wrong_tasks(network->finish(job)), 0U);
    trusted.line->on_closed();
    network->run();
  }
  const auto pardon = [&](UnixMillis later) {
    std::optional<Result<jobs::StakeView>> answer;
    network->post([&](jobs::Core& core, jobs::Moment now) {
      core.standings().pardon({.worker = suspect.key.public_key(), .at = now.unix + later}, now,
                              [&](const Result<jobs::StakeView>& view) { answer = view; });
    });
    network->run();
    return answer.value();
  };
  ASSERT_FALSE(pardon(-3'600'000)) << "one that was signed before the conviction";
  EXPECT_EQ(pardon(-3'600'000).error().code, ErrorCode::already_exists);
  EXPECT_EQ(pardon(3'600'000).error().code, ErrorCode::invalid_argument);
  network->pass(std::chrono::seconds(1));
  suspect.behaviour.compute = nullptr;

  const auto view = pardon(0);

  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->suspended_until, 0);
  EXPECT_EQ(wrong_tasks(run(jobs::count_manifest(tasks, 1))), 0U) << "by the pardoned worker alone";
  EXPECT_EQ(pardon(0).error().code, ErrorCode::not_found);
  network->restart();
  for (const store::Standing& each : network->store().load()->standings) {
    EXPECT_EQ(each.suspended_until, 0);
    EXPECT_EQ(each.wrong, 0U);
  }
}

// A suspension also ends for a worker that stays connected.
TEST_F(LevelsNetwork, AConnectedWorkerIsGivenTasksWhenItsSuspensionEnds) {
  for (const bool ends : {true, false}) {
    auto settings = counted(true);
    settings.suspensions_end_connected = ends;
    network = std::make_unique<TestNetwork>(settings);
    network->verifier = true;
    network->invitation = trust::Invitation::none;
    TestWorker& suspect = *join(1, {.compute = zeros}).front();
    for (int client = 0; client < 2; ++client) {
      const JobId job = submit(wallet(), jobs::count_manifest(tasks, 1));
      TestWorker& trusted = invited();
      EXPECT_EQ(wrong_tasks(network->finish(job)), 0U);
      trusted.line->on_closed();
      network->run();
    }
    UnixMillis until = 0;
    for (const store::Standing& each : network->store().load()->standings)
      until = std::max(until, each.suspended_until);
    ASSERT_GT(until, 0);
    suspect.behaviour.compute = nullptr;
    suspect.leases.clear();
    network->pass(std::chrono::days(31));

    const JobId job = submit(wallet(), jobs::count_manifest(tasks, 1));

    EXPECT_EQ(store::has_results(network->finish(job).state), ends);
    EXPECT_EQ(!suspect.leases.empty(), ends);
  }
}

TEST_F(LevelsNetwork, NoOtherWorkerGoesOnFromAStrangersState) {
  for (const bool levels : {true, false}) {
    open(levels);
    TestWorker& stranger = *join(1, {.silent = true}).front();
    const JobId job = submit(wallet(), jobs::count_manifest(1, 1));
    ASSERT_THAT(stranger.leases, SizeIs(1));
    const protocol::LeasedTask& task = stranger.leases[0].tasks.at(0);
    ByteVector state;
    append(state, as_bytes(std::string_view("weftckp1")));
    append(state, job.span());
    append_le(state, task.index);
    const Hash blob = network->blobs().put(state).value();
    stranger.say(protocol::Checkpoint{.task = {.job = job, .index = task.index},
                                      .attempt = task.attempt,
                                      .blob = blob,
                                      .bytes = state.size(),
                                      .done = 40,
                                      .of = 100});
    network->run();
    TestWorker& trusted = invited();
    stranger.line->on_closed();
    network->run();

    ASSERT_FALSE(trusted.leases.empty());
    EXPECT_THAT(trusted.leases[0].resume, SizeIs(levels ? 0 : 1))
        << "it would vouch for what the state says";
  }
}

TEST_F(LevelsNetwork, AJobWhoseClientTrustsAnyoneIsDecidedByAgreementAndCountsForNothing) {
  open();
  const auto strangers = join(2);
  std::string manifest = jobs::count_manifest(tasks, 2);
  const std::string_view verify = R"("audit":0)";
  manifest.insert(manifest.find(verify) + verify.size(), R"(,"trust":"anyone")");

  EXPECT_EQ(wrong_tasks(run(manifest)), 0U);

  EXPECT_EQ(network->verified, 0U);
  EXPECT_THAT(network->store().load()->standings, SizeIs(0));
}

}  // namespace
}  // namespace weft::coordinator
