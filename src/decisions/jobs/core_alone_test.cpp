// Tests that the core decides by its events alone: stored rows, stored blobs and new ids come with
// the events, and no other part of the coordinator is linked.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "decisions/jobs/accounts.h"
#include "decisions/jobs/checkpoints.h"
#include "decisions/jobs/client_keys.h"
#include "decisions/jobs/completions.h"
#include "decisions/jobs/corrections.h"
#include "decisions/jobs/job_life.h"
#include "decisions/jobs/stakes.h"
#include "decisions/jobs/test_core.h"
#include "decisions/jobs/verification_leases.h"
#include "decisions/jobs/worker_sessions.h"
#include "decisions/ledger/answer_pay.h"

namespace weft::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

ByteVector counted_from(std::uint32_t first, std::uint32_t count) {
  ByteVector bytes;
  for (std::uint32_t i = first; i < first + count; ++i) append_le(bytes, i);
  return bytes;
}

TEST(CoreAlone, RunsAJobFromItsSubmissionToItsPay) {
  CoreAlone alone;
  alone.arrive(1);
  const auto submission = CoreAlone::submission(count_manifest(2, 1));
  const auto submitted = alone.submit(submission);
  ASSERT_TRUE(submitted.has_value()) << submitted.error().message;
  EXPECT_EQ(submitted->id, submission.id.text()) << "the id came with the event";

  std::size_t done = 0;
  for (int round = 0; round < 4 && done < 2; ++round) {
    const auto leases = alone.told<protocol::Lease>(1);
    for (std::size_t i = done; i < leases.size(); ++i) {
      for (const auto& task : leases[i].tasks)
        alone.deliver(1, leases[i], task, counted_from(task.first, task.count));
    }
    done = leases.size();
    alone.pass(std::chrono::seconds(1));
  }
  ASSERT_THAT(alone.joins, SizeIs(1));
  EXPECT_THAT(alone.stored.tasks, SizeIs(2));
  const ByteVector whole = counted_from(0, 8);
  alone.core().jobs().joined(submission.id,
                             std::vector<store::OutputBlob>{{crypto::sha256(whole), whole.size()}},
                             alone.now);
  alone.run();

  ASSERT_FALSE(alone.stored.job_updates.empty());
  const auto& end = alone.stored.job_updates.back().end;
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->state, store::JobState::done);
  EXPECT_EQ(alone.core().accounts().ledger().balance(ledger::Account::escrow(submission.id)), 0);
  const OwnerId paid = OwnerId::of_first(CoreAlone::worker(1));
  EXPECT_GT(alone.core().accounts().ledger().balance(ledger::Account::owner(paid)) +
                alone.core().accounts().ledger().balance(ledger::Account::granted(paid)),
            0);
  // The text that a receipt signs is kept with the first of its results that counts.
  ASSERT_THAT(alone.stored.receipts, SizeIs(2));
  ASSERT_THAT(alone.kept, SizeIs(4));  // Two receipts, each with its claims.
  EXPECT_EQ(crypto::sha256(alone.kept[0]), alone.stored.receipts[0].digest);
}

// The one of two waiting jobs whose task the only worker, with room for one task, is given first.
JobId first_served(CoreAlone& alone) {
  alone.arrive(1, {}, 1);
  const auto leases = alone.told<protocol::Lease>(1);
  EXPECT_FALSE(leases.empty());
  return leases.empty() ? JobId{} : leases.front().job;
}
Submission submission_of(std::uint8_t client, std::uint8_t nonce) {
  auto made = CoreAlone::submission(count_manifest(1, 1), nonce);
  made.client.bytes[0] = client;
  return made;
}
ChainStake staked(std::uint8_t owner, MicroCredits amount) {
  PublicKey key;
  key.bytes[0] = owner;
  return {.owner = OwnerId::of_first(key), .amount = amount};
}
void read_chain(CoreAlone& alone, std::uint64_t slot, std::vector<ChainStake> stakes) {
  bool taken = false;
  alone.core().stakes().read_chain({.slot = slot, .stakes = std::move(stakes)}, alone.now,
                                   [&](const auto& answer) { taken = answer.has_value(); });
  alone.run();
  EXPECT_TRUE(taken);
}

TEST(CoreAlone, AClientsStakeOnTheChainServesItsJobsFirst) {
  CoreAlone alone;
  read_chain(alone, 1, {staked(8, 1'000'000'000)});
  ASSERT_TRUE(alone.submit(submission_of(7, 1)));
  ASSERT_TRUE(alone.submit(submission_of(8, 2)));

  EXPECT_EQ(first_served(alone), submission_of(8, 2).id);
}

TEST(CoreAlone, AStakeThatLeavesTheChainServesNoJobFirst) {
  CoreAlone alone;
  read_chain(alone, 1, {staked(8, 1'000'000'000)});
  read_chain(alone, 2, {});  // The whole stake unbonds, so the reading is empty.
  ASSERT_TRUE(alone.submit(submission_of(7, 1)));
  ASSERT_TRUE(alone.submit(submission_of(8, 2)));

  EXPECT_EQ(first_served(alone), submission_of(7, 1).id);
}

TEST(CoreAlone, AReadingOfTheChainThatIsOldServesNoJobFirstThoughNothingHappenedSince) {
  CoreAlone alone;
  read_chain(alone, 1, {staked(8, 1'000'000'000)});
  alone.now.at += ChainStakes::counts_for + std::chrono::seconds(1);
  alone.now.unix += 601'000;  // Time passes without event or flush: the chain's node is down.
  ASSERT_TRUE(alone.submit(submission_of(7, 1)));
  ASSERT_TRUE(alone.submit(submission_of(8, 2)));

  EXPECT_EQ(first_served(alone), submission_of(7, 1).id);
}

TEST(CoreAlone, GivesTheStoredJobOfANonceAgain) {
  const auto submission = CoreAlone::submission(count_manifest(2, 1));
  store::Job row{.id = submission.id,
                 .client = submission.client,
                 .name = "count",
                 .manifest = {},
                 .manifest_hash = submission.manifest_hash,
                 .tasks = 2,
                 .budget = 77,
                 .state = store::JobState::done,
                 .reason = {},
                 .root = {},
                 .outputs = {}};
  CoreAlone alone;
  auto again = submission;
  again.id.bytes[0] = 200;
  again.known = row;
  const auto answer = alone.submit(again);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->id, row.id.text());
  EXPECT_EQ(answer->state, "done");
  EXPECT_EQ(answer->escrow, 77);

  again.manifest_hash.bytes[0] ^= 1;
  EXPECT_EQ(alone.submit(again).error().code, ErrorCode::already_exists);
  EXPECT_THAT(alone.stored.jobs, IsEmpty());
}

// Two submissions of one nonce are looked up before the first of them was stored.
TEST(CoreAlone, TakesOneNonceOnceThoughNeitherWasStoredWhenItWasLookedUp) {
  CoreAlone alone;
  auto first = CoreAlone::submission(count_manifest(2, 1));
  auto second = first;
  second.id.bytes[0] = 200;
  ASSERT_TRUE(alone.submit(first).has_value());

  const auto answer = alone.submit(second);

  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->id, first.id.text());
  EXPECT_THAT(alone.stored.jobs, SizeIs(1));
  EXPECT_THAT(alone.stored.nonces, SizeIs(1));
}

TEST(CoreAlone, KnowsOfAnEndedJobWhatItIsTold) {
  CoreAlone alone;
  std::optional<Result<protocol::api::Submitted>> answer;
  const auto cancel = [&](const Cancellation& wanted) {
    alone.core().jobs().cancel(wanted, alone.now, [&](auto result) { answer = std::move(result); });
    alone.run();
  };
  cancel({.job = {}, .client = CoreAlone::worker(9)});
  EXPECT_EQ(answer->error().code, ErrorCode::not_found);

  store::Job row;
  row.client = CoreAlone::worker(9);
  row.state = store::JobState::failed;
  cancel({.job = {}, .client = CoreAlone::worker(9), .stored = row});
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->state, "failed") << "it stays as it is";
  cancel({.job = {}, .client = CoreAlone::worker(8), .stored = row});
  EXPECT_EQ(answer->error().code, ErrorCode::permission_denied);
  EXPECT_TRUE(alone.stored.job_updates.empty());
}

TEST(CoreAlone, KeepsAStateThatIsThereAndNoOther) {
  CoreAlone alone;
  alone.arrive(1);
  ASSERT_TRUE(alone.submit(CoreAlone::submission(count_manifest(1, 1))).has_value());
  const auto leases = alone.told<protocol::Lease>(1);
  ASSERT_THAT(leases, SizeIs(1));
  SavedState saved{.session = SessionId(1), .told = {}, .is_stored = false};
  saved.told = {.task = {.job = leases[0].job, .index = 0},
                .attempt = leases[0].tasks[0].attempt,
                .blob = crypto::sha256(as_bytes(std::string_view("state"))),
                .bytes = 5,
                .done = 3,
                .of = 10};

  alone.core().checkpoints().saved(saved, alone.now);
  alone.run();
  EXPECT_THAT(alone.stored.checkpoints, IsEmpty());
  EXPECT_THAT(alone.forgotten, IsEmpty()) << "it may be other data, which nothing removes";

  saved.is_stored = true;
  alone.core().checkpoints().saved(saved, alone.now);
  alone.run();
  ASSERT_THAT(alone.stored.checkpoints, SizeIs(1));
  EXPECT_EQ(alone.stored.checkpoints[0].row.blob, saved.told.blob);
  EXPECT_EQ(alone.stored.checkpoints[0].row.worker, CoreAlone::worker(1));
  EXPECT_THAT(alone.forgotten, IsEmpty());
}

// Comparisons from before the restart are not stored; the agreement of results is looked up again.
TEST(CoreAlone, TakesUpReplicasThatDifferByTheAgreementThatItIsGiven) {
  std::string text = count_manifest(1, 2);
  const std::string_view exact = R"("compare":"exact")";
  text.replace(text.find(exact), exact.size(), R"("compare":{"absolute":0.5,"relative":0})");
  const std::string_view integers = R"("type":"u32")";
  text.replace(text.find(integers), integers.size(), R"("type":"f32")");
  for (const bool agrees : {true, false}) {
    const auto submission = CoreAlone::submission(text);
    const TaskId task{.job = submission.id, .index = 0};
    Restored restored;
    restored.rows.jobs.push_back({.id = submission.id,
                                  .client = submission.client,
                                  .name = "count",
                                  .manifest = submission.manifest_text,
                                  .manifest_hash = submission.manifest_hash,
                                  .tasks = 1,
                                  .budget = 1000,
                                  .price = 100,
                                  .units = 1,
                                  .reference_seconds_per_workgroup = 1e-6,
                                  .reason = {},
                                  .root = {},
                                  .outputs = {}});
    restored.rows.balances = {{ledger::Account::mint(), -1000},
                              {ledger::Account::escrow(submission.id), 1000}};
    std::array<Hash, 2> roots;
    for (std::uint8_t i = 0; i < 2; ++i) {
      roots[i].bytes[0] = i;
      restored.rows.replicas.push_back({.task = task,
                                        .worker = CoreAlone::worker(i + 1),
                                        .attempt = 1,
                                        .root = roots[i],
                                        .outputs = {},
                                        .receipt = {}});
    }
    restored.agreements = {{.task = task, .a = roots[1], .b = roots[0], .agrees = agrees}};

    CoreAlone alone(std::move(restored));

    EXPECT_THAT(alone.stored.tasks, SizeIs(agrees ? 1 : 0)) << agrees;
  }
}

// A job with four paid tasks that has ended. A conviction had taken the pay of the first three when
// the coordinator ended; 5 of the 45 micro-credits are from before tasks were kept.
Restored after_a_conviction(const Submission& submission) {
  Restored restored;
  restored.rows.held_jobs.push_back({.id = submission.id,
                                     .client = submission.client,
                                     .name = "count",
                                     .manifest = submission.manifest_text,
                                     .manifest_hash = submission.manifest_hash,
                                     .tasks = 4,
                                     .state = store::JobState::done,
                                     .reason = {},
                                     .root = {},
                                     .outputs = {}});
  const OwnerId owner = OwnerId::of_first(CoreAlone::worker(1));
  for (std::uint32_t index = 0; index < 4; ++index) {
    const TaskId task{.job = submission.id, .index = index};
    Hash root;
    root.bytes[0] = static_cast<std::uint8_t>(index + 1);
    restored.rows.held_tasks.push_back({.id = task,
                                        .root = root,
                                        .outputs = {{.hash = root, .bytes = 16}},
                                        .worker = CoreAlone::worker(1),
                                        .agreeing = {CoreAlone::worker(1)}});
    restored.rows.held_pays.push_back({.task = task,
                                       .worker = CoreAlone::worker(1),
                                       .owner = owner,
                                       .free = 8,
                                       .granted = 2,
                                       .lost = index < 3});
  }
  restored.rows.balances = {{ledger::Account::mint(), -45},
                            {ledger::Account::held(owner), 37},
                            {ledger::Account::held_granted(owner), 8}};
  return restored;
}

TEST(CoreAlone, RefundsTheWrongTasksOfAConvictedWorkerAndKeepsTheRestForVerifiers) {
  const auto submission = CoreAlone::submission(count_manifest(4, 1));
  CoreAlone alone(after_a_conviction(submission), CoreAlone::Verifier::here);
  const OwnerId client = OwnerId::of_first(submission.client);
  const auto balance = [&](const ledger::Account& account) {
    return alone.core().accounts().ledger().balance(account);
  };

  ASSERT_THAT(alone.verifications, SizeIs(3)) << "what was not decided before the restart";
  const VerifyOrder& first = alone.verifications[0];
  EXPECT_TRUE(first.paid);
  EXPECT_EQ(first.client, submission.client);
  std::uint32_t covered = 0;
  for (const manifest::Range& range : first.ranges) {
    EXPECT_EQ(range.first, covered);
    covered += range.count;
  }
  EXPECT_EQ(covered, 4U) << "the whole task";

  using trust::AuditOutcome;
  constexpr std::array outcomes = {AuditOutcome::differs, AuditOutcome::agrees,
                                   AuditOutcome::failed};
  for (std::size_t i = 0; i < 3; ++i) {
    const VerifyOrder& order = alone.verifications[i];
    alone.core().corrections().rechecked(order.task, Hash{}, {.outcome = AuditOutcome::differs},
                                         alone.now);  // The root is not that of the order.
    for (int times = 0; times < 2; ++times)           // A result that arrives twice counts once.
      alone.core().corrections().rechecked(order.task, order.root, {.outcome = outcomes[i]},
                                           alone.now);
    alone.run();
  }

  EXPECT_EQ(balance(ledger::Account::owner(client)), 8);
  EXPECT_EQ(balance(ledger::Account::granted(client)), 2);
  EXPECT_EQ(balance(ledger::Account::verification()), 16);
  EXPECT_EQ(balance(ledger::Account::verification_granted()), 4);
  const auto removed = [&] {
    return std::ranges::count_if(alone.stored.held_pays, [](const auto& each) {
      return each.change == store::Change::remove;
    });
  };
  EXPECT_EQ(removed(), 3);
  // Pay that no conviction took becomes the worker's.
  alone.pass(std::chrono::minutes(12));
  EXPECT_EQ(removed(), 4);
  const OwnerId owner = OwnerId::of_first(CoreAlone::worker(1));
  EXPECT_EQ(balance(ledger::Account::owner(owner)), 13);
  EXPECT_EQ(balance(ledger::Account::held(owner)), 0);
}

// The client of the first task was refunded when another worker that agreed was convicted, and the
// task has the right root by now; the coordinator ended before the job was joined again.
TEST(CoreAlone, AClientIsRefundedNoMoreThanItPaidOverTwoConvictionsAndARestart) {
  for (const MicroCredits refunded : {0, 6, 20}) {
    const auto submission = CoreAlone::submission(count_manifest(4, 1));
    Restored restored = after_a_conviction(submission);
    Hash was;
    was.bytes[0] = 99;
    const TaskId task{.job = submission.id, .index = 0};
    restored.rows.corrections.push_back({.task = task,
                                         .worker = CoreAlone::worker(2),
                                         .client = submission.client,
                                         .replaced = true,
                                         .was = was,
                                         .due = std::max<MicroCredits>(refunded, 8),
                                         .refunded = refunded,
                                         .joined = true,
                                         .reason = {}});
    CoreAlone alone(std::move(restored), CoreAlone::Verifier::here);
    const OwnerId client = OwnerId::of_first(submission.client);
    const auto balance = [&](const ledger::Account& account) {
      return alone.core().accounts().ledger().balance(account);
    };
    const MicroCredits owed = std::max<MicroCredits>(8 - refunded, 0);

    EXPECT_THAT(alone.verifications, SizeIs(2)) << "it is known to be wrong";
    EXPECT_EQ(balance(ledger::Account::owner(client)) + balance(ledger::Account::granted(client)),
              owed);
    EXPECT_EQ(
        balance(ledger::Account::verification()) + balance(ledger::Account::verification_granted()),
        10 - owed);
    if (owed == 0) continue;
    ASSERT_FALSE(alone.stored.corrections.empty());
    EXPECT_EQ(alone.stored.corrections.back().refunded, 8) << "with the money";
  }
}

TEST(CoreAlone, RefusesHeldPayThatItsAccountDoesNotHold) {
  const auto submission = CoreAlone::submission(count_manifest(4, 1));
  for (const bool more : {true, false}) {
    Restored restored = after_a_conviction(submission);
    if (more) {
      restored.rows.held_pays[0].granted = 3;
    } else {
      restored.rows.held_tasks.pop_back();
    }
    EXPECT_NONFATAL_FAILURE(CoreAlone alone(restored), "The pay that is held for task");
  }
}

TEST(CoreAlone, GivesBackWhatWasSetAsideForAnAnswerThatACrashBrokeOff) {
  const OwnerId client = OwnerId::of_first(CoreAlone::worker(9));
  JobId id;
  id.bytes[0] = 3;
  Restored restored;
  restored.rows.balances = {{ledger::Account::mint(), -500}, {ledger::Account::escrow(id), 500}};
  restored.answers = {{.id = id, .client = client}};

  CoreAlone alone(std::move(restored));

  EXPECT_EQ(alone.core().accounts().ledger().balance(ledger::Account::owner(client)), 500);
  EXPECT_EQ(alone.core().accounts().ledger().balance(ledger::Account::escrow(id)), 0);
  EXPECT_THAT(alone.stored.transactions, SizeIs(1));
}

TEST(CoreAlone, NamesAnswersAsItIsTold) {
  CoreAlone alone;
  billing::AnswerOrder order{.key = {}, .model = "tiny", .ids = {}};
  order.ids = {JobId{}, JobId{}};
  order.ids[1].bytes[0] = 1;
  std::optional<billing::AnswerAdmission> admitted;
  alone.core().completions().admit(
      order, alone.now,
      [&](const Result<billing::AnswerAdmission>& answer) { admitted = *answer; });
  alone.run();
  ASSERT_TRUE(admitted.has_value());
  ASSERT_TRUE(admitted->refused.has_value()) << "an unknown key";

  billing::ApiKey key{
      .id = "0123456789abcdef", .name = "test", .hash = {}, .owner = CoreAlone::worker(9)};
  key.hash.bytes[0] = 1;
  alone.core().keys().add(key, billing::KeyMaker::client, 0, alone.now, [](const auto&) {});
  order.key = key.hash;
  alone.core().completions().admit(
      order, alone.now,
      [&](const Result<billing::AnswerAdmission>& answer) { admitted = *answer; });
  alone.run();
  EXPECT_FALSE(admitted->refused.has_value());
  EXPECT_EQ(admitted->answers, order.ids);
}

TEST(CoreAlone, HoldsOfAKeysBudgetWhatARequestsJobMayCost) {
  CoreAlone alone;
  billing::ApiKey key{
      .id = "0123456789abcdef", .name = "test", .hash = {}, .owner = CoreAlone::worker(9)};
  key.hash.bytes[0] = 1;
  key.credits_max = 100;
  alone.core().keys().add(key, billing::KeyMaker::client, 0, alone.now, [](const auto&) {});
  alone.run();
  const auto admit = [&](const Hash& hash, MicroCredits budget) {
    std::optional<billing::JobAdmission> out;
    alone.core().keys().admit_job_request(
        {.key = hash, .budget = budget}, alone.now,
        [&](const Result<billing::JobAdmission>& told) { out = *told; });
    alone.run();
    return out.value_or(billing::JobAdmission{});
  };
  EXPECT_EQ(admit({}, 1).refused.value().error.code, ErrorCode::unauthenticated);
  const auto first = admit(key.hash, 60);
  EXPECT_FALSE(first.refused.has_value());
  EXPECT_EQ(first.client, key.owner);
  EXPECT_EQ(first.key_id, key.id);
  const auto second = admit(key.hash, 60);
  ASSERT_TRUE(second.refused.has_value()) << "60 are held";
  EXPECT_THAT(second.refused->error.message, testing::HasSubstr("Weft-Budget"));
  alone.core().keys().job_request_ended(key.id, 60, 30, alone.now);
  alone.run();
  EXPECT_EQ(alone.stored.api_keys.back().credits, 30);
  EXPECT_FALSE(admit(key.hash, 60).refused.has_value()) << "30 are spent, and none held";
}

TEST(CoreAlone, TellsOnceHowAJobHasEnded) {
  CoreAlone alone;
  std::vector<Result<EndedJob>> told;
  const auto listen = [&](const Result<EndedJob>& ended) { told.push_back(ended); };
  const auto submission = CoreAlone::submission(count_manifest(1, 1));
  alone.core().jobs().when_ended(submission.id, listen);
  alone.run();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told.back().error().code, ErrorCode::not_found) << "it does not run yet";

  ASSERT_TRUE(alone.submit(submission).has_value());
  alone.core().jobs().when_ended(submission.id, listen);
  alone.run();
  EXPECT_THAT(told, SizeIs(1));
  alone.core().jobs().cancel({.job = submission.id, .client = submission.client}, alone.now,
                             [](const auto&) {});
  alone.run();
  ASSERT_THAT(told, SizeIs(2));
  ASSERT_TRUE(told.back().has_value());
  EXPECT_EQ(told.back()->state, store::JobState::cancelled);
  EXPECT_EQ(told.back()->reason, "The client cancelled the job.");
  EXPECT_EQ(told.back()->paid, 0);
}

// A stranger of another network and one of the coordinator's own network each deliver a task of a
// job with `tasks` tasks.
void two_strangers_hand_in(CoreAlone& alone, std::uint32_t tasks) {
  alone.arrive(1, "192.0.2.0/24");
  alone.arrive(2);
  const auto submission = CoreAlone::submission(count_manifest(tasks, 1));
  ASSERT_TRUE(alone.submit(submission).has_value());
  alone.pass(std::chrono::seconds(1));
  alone.core().checks().measured(
      submission.id,
      scheduler::Measurement{.workgroups = 4, .gpu_seconds = 0.001, .elapsed_seconds = 0.001},
      alone.now);
  alone.pass(std::chrono::seconds(1));

  for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
    const auto leases = alone.told<protocol::Lease>(number);
    ASSERT_FALSE(leases.empty());
    const auto& task = leases[0].tasks.at(0);
    alone.deliver(number, leases[0], task, counted_from(task.first, task.count));
  }
}

// The verifier takes turns by the group that an order names: a stranger's network, or the stranger
// itself if it is in the coordinator's own network.
TEST(CoreAlone, SaysOfEachSampleWhichNetworkItsStrangerIsOf) {
  CoreAlone alone({}, CoreAlone::Verifier::here, CoreAlone::Count::levels);
  two_strangers_hand_in(alone, 8);

  ASSERT_THAT(alone.verifications, SizeIs(2));
  EXPECT_TRUE(alone.verifications[0].first && alone.verifications[1].first);
  EXPECT_EQ(alone.verifications[0].group, "192.0.2.0/24");
  EXPECT_EQ(alone.verifications[1].group, CoreAlone::worker(2).text());
}

// The verifier takes a quarter of an hour for a check.
TEST(CoreAlone, GivesNewWorkersNoTaskWhileChecksAreLateAndSaysWhy) {
  CoreAlone alone({}, CoreAlone::Verifier::here, CoreAlone::Count::levels);
  two_strangers_hand_in(alone, 64);
  ASSERT_THAT(alone.verifications, SizeIs(2));
  alone.arrive(3, "198.51.100.0/24");
  ASSERT_THAT(alone.told<protocol::Lease>(3), SizeIs(1)) << "the verifier has only begun";
  alone.pass(std::chrono::minutes(15));

  alone.arrive(4, "203.0.113.0/24");
  alone.arrive(5);
  EXPECT_THAT(alone.told<protocol::Lease>(4), IsEmpty());
  EXPECT_THAT(alone.told<protocol::Lease>(5), SizeIs(1)) << "of our own network";

  const auto answer = [&](std::size_t which) {
    const VerifyOrder order = alone.verifications.at(which);
    alone.core().checks().verified(order.task, order.root, {.outcome = trust::AuditOutcome::agrees},
                                   alone.now);
    alone.pass(std::chrono::seconds(2));
  };
  answer(0);
  const auto verdicts = alone.told<protocol::Verdict>(1);
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_THAT(verdicts[0].reason,
              testing::HasSubstr("New workers get no tasks now: a result could wait"));
  EXPECT_THAT(alone.told<protocol::Lease>(4), IsEmpty()) << "the next check takes as long";

  for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{5}})
    alone.core().sessions().left(SessionId(number), true, alone.now);
  answer(1);
  EXPECT_THAT(alone.told<protocol::Lease>(4), SizeIs(1)) << "nothing waits any more";
}

}  // namespace
}  // namespace weft::jobs
