// Tests of corrections: the tasks of the last day for which a convicted worker was paid are
// computed again, also in jobs that ended long ago. Wrong results are replaced, the job is
// corrected, and its client is refunded from what the conviction took. Tasks that cannot be
// computed again are reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/coordinator/test_network.h"
#include "common/proof/merkle.h"
#include "decisions/jobs/core_views.h"
#include "decisions/jobs/job_watch.h"
#include "decisions/jobs/owner_records.h"
#include "decisions/jobs/rechecks.h"
#include "decisions/jobs/stakes.h"

namespace weft::coordinator {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ByteVector zeros(const protocol::LeasedTask& task) {
  return ByteVector(std::size_t{4} * task.count);
}

class Corrections : public testing::Test {
 protected:
  static constexpr std::uint32_t tasks = 16;

  Corrections() { open(); }
  void open(const jobs::CoreSettings& settings = {}) {
    network = std::make_unique<TestNetwork>(settings);
    network->verifier = true;
    network->invitation = trust::Invitation::none;
    sleeper = &network->join(sleeper_key);
  }
  crypto::KeyPair& wallet() {
    return *wallets.emplace_back(
        std::make_unique<crypto::KeyPair>(crypto::KeyPair::generate().value()));
  }
  TestWorker& invited(const jobs::Behaviour& behaviour = {}) {
    network->invitation = trust::Invitation::worker;
    TestWorker& worker = network->join(wallet(), behaviour);
    network->invitation = trust::Invitation::none;
    return worker;
  }
  JobId submit(const crypto::KeyPair& client, std::uint32_t count, std::uint32_t replicas) {
    const auto submitted =
        network->submit(client, jobs::count_manifest(count, replicas), {++nonce});
    EXPECT_TRUE(submitted.has_value()) << submitted.error().message;
    return JobId::parse(submitted->id).value();
  }
  // Runs a job in which the sleeper's zeros are accepted, because an invited worker delivers zeros
  // too.
  store::Job deceive(const crypto::KeyPair& client, std::uint32_t count = tasks) {
    sleeper->behaviour.compute = zeros;
    TestWorker& accomplice = invited({.compute = zeros});
    const store::Job job = network->finish(submit(client, count, 2));
    EXPECT_EQ(job.state, store::JobState::done);
    accomplice.line->on_closed();
    network->run();
    sleeper->behaviour.compute = nullptr;
    return job;
  }
  // Passes time in which the sleeper is disconnected.
  void later(std::chrono::milliseconds time) {
    sleeper->line->on_closed();
    network->run();
    network->pass(time);
    sleeper = &network->join(sleeper_key);
  }
  void work_well() {
    const store::Job job = network->finish(submit(wallet(), tasks, 1));
    EXPECT_EQ(job.state, store::JobState::done);
  }
  // Runs a job of another client in which the verifier finds the sleeper's result wrong.
  void be_found_wrong() {
    sleeper->behaviour.compute = zeros;
    const JobId job = submit(wallet(), tasks, 1);
    TestWorker& trusted = invited();
    EXPECT_EQ(network->finish(job).state, store::JobState::done);
    trusted.line->on_closed();
    network->run();
    sleeper->behaviour.compute = nullptr;
  }
  void convict() {
    for (int client = 0; client < 2; ++client) be_found_wrong();
    EXPECT_EQ(metric("weft_convictions_total"), 1);
  }
  [[nodiscard]] MicroCredits held() const {
    return network->balance(ledger::Account::held(OwnerId::of_first(sleeper_key.public_key())));
  }
  [[nodiscard]] MicroCredits staked() const {
    return network->balance(ledger::Account::stake(OwnerId::of_first(sleeper_key.public_key())));
  }
  std::optional<ErrorCode> move_stake(bool deposit, MicroCredits amount) {
    std::optional<ErrorCode> code;
    network->post([&](jobs::Core& core, jobs::Moment now) {
      core.stakes().move({.wallet = sleeper_key.public_key(),
                          .deposit = deposit,
                          .amount = amount,
                          .number = ++stake_moves},
                         now, [&](const Result<jobs::StakeView>& moved) {
                           if (!moved) code = moved.error().code;
                         });
    });
    network->run();
    return code;
  }
  struct Sums {
    MicroCredits due = 0;
    MicroCredits refunded = 0;
    std::size_t settled = 0;
  };
  Sums sums(const store::Job& job) {
    Sums sums;
    for (const auto& each : network->store().corrections(job.id).value()) {
      sums.due += each.due;
      sums.refunded += each.refunded;
      sums.settled += each.settled ? 1 : 0;
    }
    return sums;
  }
  std::int64_t metric(const std::string& name) {
    std::string text;
    network->core().views().metrics([&](const Result<std::string>& got) { text = *got; });
    network->run();
    const auto at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::atoll(text.c_str() + at + name.size() + 2);
  }
  MicroCredits has(const crypto::KeyPair& client) {
    return network->balance(ledger::Account::owner(OwnerId::of_first(client.public_key())));
  }
  void expect_right(const store::Job& job) {
    ByteVector right;
    for (std::uint32_t i = 0; i < job.tasks * 4; ++i) append_le(right, i);
    EXPECT_EQ(network->output(job), right);
    std::vector<Hash> roots;
    for (const auto& task : network->store().tasks(job.id).value()) {
      roots.push_back(task.root);
      EXPECT_EQ(task.basis, store::Basis::corrected);
      EXPECT_EQ(task.worker, PublicKey{});
    }
    EXPECT_EQ(job.root, proof::root_of_roots(roots));
  }

  std::unique_ptr<TestNetwork> network;
  std::vector<std::unique_ptr<crypto::KeyPair>> wallets;
  std::uint8_t nonce = 0;
  std::uint64_t stake_moves = 0;
  crypto::KeyPair sleeper_key = crypto::KeyPair::generate().value();
  TestWorker* sleeper = nullptr;
};

TEST_F(Corrections, AJobThatEndedAndWasPaidHoursAgoIsCorrectedAndItsClientIsRefunded) {
  const crypto::KeyPair& deceived = wallet();
  const store::Job before = deceive(deceived);
  later(std::chrono::hours(5));  // The pay has long been released.
  work_well();                   // Earns pay that is still held at the conviction.
  const MicroCredits held =
      network->balance(ledger::Account::held(OwnerId::of_first(sleeper_key.public_key())));
  ASSERT_GT(held, 0);
  const MicroCredits left = has(deceived);

  convict();

  const store::Job after = network->store().job(before.id).value();
  EXPECT_EQ(after.state, store::JobState::corrected);
  EXPECT_EQ(after.ended, before.ended);
  EXPECT_NE(after.root, before.root);
  expect_right(after);
  const auto corrections = network->store().corrections(before.id).value();
  ASSERT_THAT(corrections, SizeIs(tasks));
  MicroCredits refunded = 0;
  for (const auto& each : corrections) {
    EXPECT_TRUE(each.replaced && each.settled);
    EXPECT_EQ(each.worker, sleeper_key.public_key());
    EXPECT_GT(each.due, 0);
    refunded += each.refunded;
  }
  EXPECT_GT(refunded, 0);
  EXPECT_LE(refunded, held) << "out of what the conviction took";
  EXPECT_EQ(has(deceived), left + refunded);
  EXPECT_TRUE(network->store().audit().has_value());
  EXPECT_EQ(metric("weft_jobs_corrected_total"), 1);
  EXPECT_EQ(metric("weft_rechecks_running"), 0);
  EXPECT_THAT(network->store().load()->rechecks, IsEmpty());
  EXPECT_THAT(network->store().load()->corrections, IsEmpty());
}

// One mismatch makes a worker a suspect. A second mismatch, in another client's job, convicts it.
TEST_F(Corrections, ASuspectThatIsConvictedHoursLaterPaysForWhatWasReplacedMeanwhile) {
  for (const bool waits : {true, false}) {
    jobs::CoreSettings settings;
    if (!waits) settings.refund_owed_for = std::chrono::milliseconds(0);
    open(settings);
    const crypto::KeyPair& deceived = wallet();
    const store::Job before = deceive(deceived);
    later(std::chrono::hours(1));  // The pay has long been released.
    be_found_wrong();
    later(std::chrono::minutes(30));
    ASSERT_EQ(network->store().job(before.id)->state, store::JobState::corrected)
        << "the results do not wait for a conviction";
    expect_right(network->store().job(before.id).value());
    ASSERT_EQ(sums(before).refunded, 0) << "it is not convicted";
    ASSERT_EQ(metric("weft_convictions_total"), 0);
    network->restart();
    sleeper = &network->join(sleeper_key);
    later(std::chrono::hours(2));
    work_well();  // Earns pay that is still held at the conviction.
    ASSERT_GT(held(), 0);
    const MicroCredits left = has(deceived);

    convict();

    const Sums after = sums(before);
    EXPECT_EQ(after.settled, tasks);
    EXPECT_EQ(after.refunded > 0, waits);
    EXPECT_LE(after.refunded, after.due);
    EXPECT_EQ(has(deceived), left + after.refunded);
    EXPECT_EQ(metric("weft_jobs_corrected_total"), 0) << "after the restart no job is joined again";
    EXPECT_TRUE(network->store().audit().has_value());
  }
}

// The mismatch in the first client's job is stored until the mismatch in the second client's job.
TEST_F(Corrections, ARestartBetweenTwoClientsMismatchesDoesNotHelpACheat) {
  work_well();
  be_found_wrong();
  ASSERT_EQ(metric("weft_convictions_total"), 0);
  ASSERT_THAT(network->store().load()->mismatches, SizeIs(1));

  network->restart();
  sleeper = &network->join(sleeper_key);
  be_found_wrong();

  EXPECT_EQ(metric("weft_convictions_total"), 1);
  EXPECT_THAT(network->store().load()->mismatches, IsEmpty());
}

TEST_F(Corrections, AMismatchThatIsAMonthOldConvictsNoWorker) {
  work_well();
  be_found_wrong();
  later(std::chrono::days(31));
  network->finish(submit(wallet(), 1, 1));
  EXPECT_THAT(network->store().load()->mismatches, IsEmpty());

  be_found_wrong();

  EXPECT_EQ(metric("weft_convictions_total"), 0);
}

TEST_F(Corrections, ASuspectThatIsNotConvictedInADayOwesNothing) {
  const store::Job before = deceive(wallet());
  later(std::chrono::hours(1));
  be_found_wrong();
  later(std::chrono::hours(23));
  EXPECT_EQ(sums(before).settled, 0U);
  network->restart();

  network->pass(std::chrono::hours(2));

  EXPECT_EQ(sums(before).settled, tasks);
  EXPECT_EQ(sums(before).refunded, 0);
  EXPECT_THAT(network->store().load()->corrections, IsEmpty());
}

// The pay for a result that was found wrong is held until the client has its refund, so that a
// conviction that follows can still take it.
TEST_F(Corrections, PayForAWrongResultIsHeldAsLongAsItsClientIsOwedSomething) {
  for (const bool waits : {true, false}) {
    for (const bool convicted : {true, false}) {
      jobs::CoreSettings settings;
      if (!waits) settings.refund_owed_for = std::chrono::milliseconds(0);
      open(settings);
      const crypto::KeyPair& deceived = wallet();
      const store::Job before = deceive(deceived);
      const MicroCredits paid = held();
      ASSERT_GT(paid, 0);
      be_found_wrong();  // Happens within ten minutes of the pay.
      later(std::chrono::minutes(30));
      EXPECT_EQ(held(), waits ? paid : 0);
      network->restart();
      sleeper = &network->join(sleeper_key);
      later(std::chrono::minutes(30));
      EXPECT_EQ(held(), waits ? paid : 0);
      const MicroCredits left = has(deceived);
      const MicroCredits its = has(sleeper_key);

      if (convicted)
        convict();
      else
        later(std::chrono::hours(25));

      EXPECT_EQ(held(), 0);
      if (!waits) continue;
      EXPECT_EQ(has(sleeper_key), convicted ? its : its + paid);
      EXPECT_EQ(has(deceived), left + sums(before).refunded);
      if (convicted)
        EXPECT_GE(sums(before).refunded, paid);
      else
        EXPECT_EQ(sums(before).refunded, 0);
      EXPECT_TRUE(network->store().audit().has_value());
    }
  }
}

TEST_F(Corrections, WhatAWorkerMayOweIsNotWithdrawnFromItsStake) {
  jobs::CoreSettings settings;
  settings.stakes_open = true;
  settings.referee.risk = 0;  // A mismatch then locks less than the worker may owe.
  open(settings);
  const crypto::KeyPair& deceived = wallet();
  const store::Job before = deceive(deceived, 4 * tasks);
  network->finish(submit(sleeper_key, 1, 1));  // A first job makes the core grant credits.
  later(std::chrono::hours(1));
  ASSERT_EQ(move_stake(true, has(sleeper_key)), std::nullopt);
  be_found_wrong();
  later(std::chrono::hours(1));
  const MicroCredits due = sums(before).due;
  ASSERT_EQ(sums(before).refunded, 0);
  ASSERT_GT(staked(), due);
  EXPECT_EQ(move_stake(false, staked() - due + 1), ErrorCode::insufficient_funds)
      << "its clients are owed that, if it is convicted";
  network->drop_paid_checks = 0;

  be_found_wrong();

  ASSERT_EQ(metric("weft_convictions_total"), 1);
  const MicroCredits rest = staked();
  ASSERT_GT(rest, due);
  EXPECT_EQ(move_stake(false, 1), ErrorCode::insufficient_funds)
      << "it is not known yet what else was wrong";
  network->drop_paid_checks = std::nullopt;
  network->restart();
  network->pass(std::chrono::minutes(1));
  EXPECT_EQ(sums(before).settled, 4 * tasks);
  EXPECT_EQ(sums(before).refunded, due);
  EXPECT_EQ(move_stake(false, staked()), std::nullopt) << "nothing more is owed";
  EXPECT_TRUE(network->store().audit().has_value());
}

// The conviction itself takes less than the clients are owed, and the worker has no held pay.
TEST_F(Corrections, TheStakeAlonePaysTheClientsOfAConvictedWorkerWhoseHeldPayDoesNotReach) {
  for (const bool from_stake : {true, false}) {
    jobs::CoreSettings settings;
    settings.stakes_open = true;
    settings.refunds_from_stake = from_stake;
    settings.referee.risk = 0;  // Keeps the penalty of a conviction small.
    open(settings);
    const crypto::KeyPair& deceived = wallet();
    const store::Job before = deceive(deceived, 4 * tasks);
    network->finish(submit(sleeper_key, 1, 1));  // A first job makes the core grant credits.
    later(std::chrono::hours(1));
    ASSERT_EQ(move_stake(true, has(sleeper_key)), std::nullopt);
    ASSERT_EQ(held(), 0);
    const MicroCredits left = has(deceived);
    const MicroCredits stake = staked();

    convict();
    network->pass(std::chrono::minutes(1));

    const Sums after = sums(before);
    ASSERT_GT(stake, after.due);
    EXPECT_EQ(after.settled, from_stake ? 4 * tasks : 0) << "the rest is owed for a day";
    EXPECT_EQ(after.refunded == after.due, from_stake);
    EXPECT_EQ(has(deceived), left + after.refunded);
    EXPECT_GT(stake - staked(), 0) << "the penalty";
    // The due amount is reduced by the fees for checking these tasks.
    EXPECT_EQ(stake - staked() > after.due - after.due / 50, from_stake);
    expect_right(network->store().job(before.id).value());
    EXPECT_TRUE(network->store().audit().has_value());
  }
}

TEST_F(Corrections, WhatAConvictionSlashesGoesToTheClientsOfWrongTasks) {
  jobs::CoreSettings settings;
  settings.stakes_open = true;
  open(settings);
  const crypto::KeyPair& deceived = wallet();
  const store::Job before = deceive(deceived, 4 * tasks);
  network->finish(submit(sleeper_key, 1, 1));  // A first job makes the core grant credits.
  later(std::chrono::hours(1));
  const MicroCredits stake = before.price / 4;
  ASSERT_EQ(move_stake(true, stake), std::nullopt);
  const MicroCredits left = has(deceived);

  convict();
  network->pass(std::chrono::minutes(1));

  ASSERT_EQ(staked(), 0) << "all of it is the penalty";
  EXPECT_GT(sums(before).refunded, stake * 9 / 10) << "less what the job under way is given";
  EXPECT_LT(sums(before).refunded, sums(before).due);
  EXPECT_EQ(has(deceived), left + sums(before).refunded);
}

// A client whose jobs give different results on different devices could make the verifier recompute
// honest workers' tasks without end, if the number of suspects that are recomputed for one client
// had no bound.
TEST_F(Corrections, OneClientsJobsHaveFourSuspectsTasksComputedAgainAtATimeAndThenTheOthers) {
  sleeper->line->on_closed();
  std::vector<TestWorker*> workers;
  for (int i = 0; i < 6; ++i) workers.push_back(&network->join(wallet()));
  const store::Job paid = network->finish(submit(wallet(), 6 * tasks, 1));
  ASSERT_EQ(paid.state, store::JobState::done);
  for (TestWorker* worker : workers) worker->behaviour.compute = zeros;
  network->paid_checks_late = true;

  network->finish(submit(wallet(), tasks, 1), std::chrono::seconds(20));

  EXPECT_EQ(metric("weft_rechecks_running"), 4);
  network->paid_checks_late = false;
  for (int i = 0; i < 100; ++i) network->pass(std::chrono::seconds(2));
  std::set<PublicKey> computed;
  for (const auto& each : network->store().checks(paid.id, 1000).value()) {
    if (each.kind == store::Check::Kind::recheck) computed.insert(each.worker);
  }
  EXPECT_THAT(computed, SizeIs(6));
}

// Higher refunds would be other clients' money. A client whose own worker delivers wrong results
// and keeps its pay must gain nothing from the worker's conviction.
TEST_F(Corrections, TheVerificationAccountGivesNoMoreThanItGotOfTheWrongTasks) {
  const store::Job before = deceive(wallet());
  later(std::chrono::hours(1));  // After an hour none of the pay is held or staked.

  convict();
  // After 25 hours the other worker can no longer be convicted.
  network->pass(std::chrono::hours(25));

  const Sums after = sums(before);
  EXPECT_EQ(after.settled, tasks);
  EXPECT_GT(after.refunded, 0);
  EXPECT_LE(after.refunded, after.due / 50);
  EXPECT_GT(network->balance(ledger::Account::verification()), 0) << "there is more";
}

TEST_F(Corrections, WhatIsOlderThanADayStays) {
  const store::Job before = deceive(wallet());
  later(std::chrono::hours(25));

  convict();

  EXPECT_EQ(network->store().job(before.id)->state, store::JobState::done);
  EXPECT_THAT(network->store().corrections(before.id).value(), IsEmpty());
}

TEST_F(Corrections, WhatIsRightStaysAsItIs) {
  const store::Job right = network->finish(submit(wallet(), tasks, 1));
  later(std::chrono::minutes(20));

  convict();

  EXPECT_EQ(network->store().job(right.id), right);
  const auto checks = network->store().checks(right.id, 1000).value();
  EXPECT_EQ(std::ranges::count(checks, store::Check::Kind::recheck, &store::Check::kind), tasks)
      << "and all of it was computed again";
}

TEST_F(Corrections, ARestartInTheMiddleLosesNothingOfIt) {
  const crypto::KeyPair& deceived = wallet();
  const store::Job before = deceive(deceived);
  later(std::chrono::hours(1));
  work_well();
  const MicroCredits left = has(deceived);
  network->drop_paid_checks = 7;  // The process ends after seven tasks were recomputed.
  convict();
  ASSERT_EQ(network->store().job(before.id)->state, store::JobState::done);
  ASSERT_THAT(network->store().load()->rechecks, SizeIs(1));
  network->drop_paid_checks = std::nullopt;

  network->restart();

  const store::Job after = network->store().job(before.id).value();
  EXPECT_EQ(after.state, store::JobState::corrected);
  expect_right(after);
  EXPECT_GT(has(deceived), left);
  EXPECT_THAT(network->store().load()->rechecks, IsEmpty());
  EXPECT_THAT(network->store().load()->corrections, IsEmpty());
  network->restart();
  EXPECT_TRUE(network->store().audit().has_value());
}

TEST_F(Corrections, AJobThatRanWhenItsWorkerWasConvictedHasTheRightResults) {
  sleeper->behaviour.compute = zeros;
  TestWorker& accomplice = invited({.answers_below = tasks - 1, .compute = zeros});
  const JobId id = submit(wallet(), tasks, 2);
  (void)network->finish(id, std::chrono::seconds(5));
  ASSERT_EQ(network->store().tasks(id)->size(), tasks - 1) << "one is open";
  accomplice.line->on_closed();
  network->run();

  convict();

  (void)invited();
  (void)invited();
  const store::Job job = network->finish(id);
  EXPECT_TRUE(store::has_results(job.state)) << job.reason;
  ByteVector right;
  for (std::uint32_t i = 0; i < tasks * 4; ++i) append_le(right, i);
  EXPECT_EQ(network->output(job), right);
  EXPECT_EQ(network->store().corrections(id)->size(), tasks - 1);
  // After 25 hours the other worker can no longer be convicted.
  network->pass(std::chrono::hours(25));
  EXPECT_THAT(network->store().load()->corrections, IsEmpty());
}

TEST_F(Corrections, WhatCannotBeComputedAgainIsNamed) {
  const store::Job before = deceive(wallet());
  later(std::chrono::minutes(20));
  network->paid_checks_fail = true;

  convict();

  EXPECT_EQ(network->store().job(before.id)->state, store::JobState::done);
  const auto corrections = network->store().corrections(before.id).value();
  ASSERT_THAT(corrections, SizeIs(tasks));
  for (const auto& each : corrections) {
    EXPECT_FALSE(each.replaced);
    EXPECT_TRUE(each.settled);
    EXPECT_THAT(each.reason, HasSubstr("gone"));
  }
  EXPECT_EQ(metric("weft_tasks_unchecked_total"), tasks);
}

// A page of tasks that the verifier did not finish is not taken for the last page: other tasks are
// still corrected.
TEST_F(Corrections, WhatTheVerifierDoesNotFinishInTimeIsComputedAgainLater) {
  work_well();
  const store::Job job = deceive(wallet());
  network->paid_checks_late = true;
  convict();
  network->pass(std::chrono::seconds(30));
  EXPECT_EQ(metric("weft_tasks_corrected_total"), 0);
  EXPECT_EQ(metric("weft_tasks_unchecked_total"), 0) << "it may be busy for a moment";

  network->paid_checks_late = false;
  for (int i = 0; i < 60; ++i) network->pass(std::chrono::seconds(1));

  EXPECT_EQ(network->store().job(job.id)->state, store::JobState::corrected);
  expect_right(network->store().job(job.id).value());
}

TEST_F(Corrections, WhatTheVerifierNeverFinishesIsNamedAfterABoundedNumberOfTries) {
  work_well();
  const store::Job job = deceive(wallet(), 4);
  network->paid_checks_late = true;
  convict();
  for (int i = 0; i < 120; ++i) network->pass(std::chrono::seconds(20));

  const auto rows = network->store().corrections(job.id).value();
  ASSERT_EQ(rows.size(), 4U);
  for (const auto& each : rows) EXPECT_EQ(each.reason, "It takes too long.");
}

TEST_F(Corrections, AJobWhoseClientHadItsDataDeletedIsNamedAndHidesNoOther) {
  const crypto::KeyPair& gone = wallet();
  const store::Job deleted = deceive(gone, jobs::Rechecks::page_size + 8);
  later(std::chrono::minutes(20));
  const store::Job before = deceive(wallet());
  later(std::chrono::minutes(20));
  bool is_forgotten = false;
  network->post([&](jobs::Core& core, jobs::Moment now) {
    core.owner_records().forget(gone.public_key(), now, [&](const Result<jobs::OwnerView>& owner) {
      is_forgotten = owner.has_value();
      EXPECT_TRUE(owner.has_value()) << owner.error().message;
    });
  });
  network->run();
  ASSERT_TRUE(is_forgotten);

  convict();

  EXPECT_EQ(network->store().job(before.id)->state, store::JobState::corrected);
  EXPECT_EQ(network->store().job(deleted.id)->state, store::JobState::done);
  const auto named = network->store().corrections(deleted.id).value();
  ASSERT_THAT(named, SizeIs(deleted.tasks));
  for (const auto& each : named) {
    EXPECT_FALSE(each.replaced);
    EXPECT_THAT(each.reason, HasSubstr("deleted"));
  }
}

TEST_F(Corrections, AnOwnerWhoseJobIsComputedAgainDeletesNothing) {
  const crypto::KeyPair& deceived = wallet();
  (void)deceive(deceived);
  later(std::chrono::minutes(20));
  network->drop_paid_checks = 7;
  convict();

  std::string why;
  network->post([&](jobs::Core& core, jobs::Moment now) {
    core.owner_records().forget(deceived.public_key(), now,
                                [&](const Result<jobs::OwnerView>& owner) {
                                  if (!owner) why = owner.error().message;
                                });
  });
  network->run();

  EXPECT_THAT(why, HasSubstr("may still be computed again"));
}

TEST_F(Corrections, WatchersAreToldOfACorrectedJob) {
  const store::Job before = deceive(wallet());
  later(std::chrono::minutes(20));
  std::vector<protocol::watch::Delta> deltas;
  const auto watch = [&] {
    network->post([&](jobs::Core& core, jobs::Moment now) {
      core.watch().watch(
          jobs::WatchWanted::delta, now,
          [&](const Result<jobs::WatchUpdate>& update) { deltas.push_back(update->delta); });
    });
    network->run();
  };
  watch();

  convict();
  watch();

  const bool told = std::ranges::any_of(deltas.back().jobs, [&](const auto& job) {
    return job.id == before.id.text() && job.state == "corrected";
  });
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace weft::coordinator
