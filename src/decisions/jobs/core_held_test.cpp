// Tests of held pay, event by event: its owner, the effect of a conviction, and the party that gets
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/test_core.h"

namespace weft::jobs {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class CoreHeld : public testing::Test {
 protected:
  static constexpr std::uint32_t tasks = 4;
  static constexpr MicroCredits of_task = 10;  // Pay that is held for each task.
  static constexpr MicroCredits unknown = 5;   // Pay that is held for no known task.
  static constexpr MicroCredits price = 45;    // The price of a task for the client.

  // An ended job with a task of worker 1, whose pay is held.
  [[nodiscard]] Restored with_held_pay() const {
    Restored restored;
    restored.rows.held_jobs.push_back({.id = submission.id,
                                       .client = submission.client,
                                       .name = "count",
                                       .manifest = submission.manifest_text,
                                       .manifest_hash = submission.manifest_hash,
                                       .tasks = tasks,
                                       .state = store::JobState::done,
                                       .reason = {},
                                       .root = {},
                                       .outputs = {}});
    restored.rows.held_jobs.back().price = tasks * price;
    for (std::uint32_t index = 0; index < tasks; ++index) {
      restored.rows.held_tasks.push_back({.id = {.job = submission.id, .index = index},
                                          .root = root(index),
                                          .outputs = {{.hash = root(index), .bytes = 16}},
                                          .worker = CoreAlone::worker(1),
                                          .agreeing = {CoreAlone::worker(1)}});
      restored.rows.held_pays.push_back({.task = {.job = submission.id, .index = index},
                                         .worker = CoreAlone::worker(1),
                                         .owner = owner,
                                         .free = of_task});
    }
    restored.rows.balances = {{ledger::Account::mint(), -(tasks * of_task + unknown)},
                              {ledger::Account::held(owner), tasks * of_task + unknown}};
    return restored;
  }
  static Hash root(std::uint32_t index) {
    Hash hash;
    hash.bytes[0] = static_cast<std::uint8_t>(index + 1);
    return hash;
  }
  void open(CoreAlone::Verifier verifier) {
    alone = std::make_unique<CoreAlone>(with_held_pay(), verifier, CoreAlone::Count::levels);
    alone->arrive(1);
  }
  // Worker 1 signs two results of one attempt, which convicts it.
  void convict() {
    for (const std::uint8_t result : {std::uint8_t{1}, std::uint8_t{2}}) {
      CoveringReceipt receipt{.session = SessionId(1),
                              .receipt = {},
                              .items = {},
                              .unleased = {},
                              .statement = {result},
                              .claims = {}};
      receipt.items.push_back(
          {.task = {.job = submission.id, .index = 0}, .attempt = 9, .root = root(result)});
      receipt.receipt.digest = crypto::sha256(receipt.statement);
      receipt.receipt.worker = CoreAlone::worker(1);
      alone->core().results().receipt(receipt, alone->now);
    }
    alone->run();
  }
  void computed(std::uint32_t index, trust::AuditOutcome outcome) {
    Checked checked{.outcome = outcome};
    if (outcome == trust::AuditOutcome::differs)
      checked.right = Recomputed{.root = root(100), .outputs = {}};
    alone->core().corrections().rechecked({.job = submission.id, .index = index}, root(index),
                                          checked, alone->now);
    alone->run();
  }
  [[nodiscard]] MicroCredits balance(const ledger::Account& account) const {
    return alone->core().accounts().ledger().balance(account);
  }

  Submission submission = CoreAlone::submission(count_manifest(tasks, 1));
  const OwnerId owner = OwnerId::of_first(CoreAlone::worker(1));
  const OwnerId client = OwnerId::of_first(submission.client);
  std::unique_ptr<CoreAlone> alone;
};

TEST_F(CoreHeld, WithoutAVerifierAConvictionTakesAllOfItForTheVerificationAccountAtOnce) {
  open(CoreAlone::Verifier::none);

  convict();

  EXPECT_THAT(alone->verifications, IsEmpty());
  EXPECT_EQ(balance(ledger::Account::held(owner)), 0);
  EXPECT_EQ(balance(ledger::Account::verification()), tasks * of_task + unknown);
  EXPECT_EQ(balance(ledger::Account::owner(client)), 0);
  EXPECT_EQ(
      std::ranges::count_if(alone->stored.held_pays,
                            [](const auto& each) { return each.change == store::Change::remove; }),
      tasks);
}

TEST_F(CoreHeld, TheClientOfAWrongTaskHasWhatWasHeldForItAndThenTheRestOfWhatWasHeld) {
  open(CoreAlone::Verifier::here);

  convict();

  ASSERT_THAT(alone->verifications, SizeIs(tasks));
  EXPECT_EQ(balance(ledger::Account::verification()), unknown) << "what is known waits";
  computed(0, trust::AuditOutcome::differs);
  EXPECT_EQ(balance(ledger::Account::owner(client)), of_task);
  computed(1, trust::AuditOutcome::agrees);
  computed(2, trust::AuditOutcome::agrees);
  computed(3, trust::AuditOutcome::failed);
  EXPECT_EQ(balance(ledger::Account::verification()), unknown + 3 * of_task);
  alone->core().corrections().paid_found({.worker = CoreAlone::worker(1), .tasks = {}}, alone->now);
  alone->run();

  EXPECT_EQ(balance(ledger::Account::owner(client)), price) << "all that it paid for the task";
  EXPECT_EQ(balance(ledger::Account::verification()), 0);
  EXPECT_EQ(balance(ledger::Account::held(owner)), 0);
}

// A worker's next pay is held after a root has found a result of it wrong, even if it has standing.
TEST_F(CoreHeld, AnEstablishedWorkerWhoseResultWasWrongHasItsNextPayHeld) {
  enum class When : std::uint8_t { now, before_a_restart, never };
  for (const When when : {When::now, When::before_a_restart, When::never}) {
    const bool is_wrong = when != When::never;
    Restored restored;
    restored.rows.standings.push_back(
        {.worker = CoreAlone::worker(1), .verified = 1000, .updated = 1'000'000'000'000});
    if (when == When::before_a_restart)
      restored.rows.watches.push_back(
          {.worker = CoreAlone::worker(1), .checks = 32, .mistakes = 1});
    alone = std::make_unique<CoreAlone>(std::move(restored), CoreAlone::Verifier::here,
                                        CoreAlone::Count::levels);
    alone->arrive(1);
    std::size_t done = 0;
    const auto run_job = [&](std::uint8_t nonce, std::uint32_t mask) {
      ASSERT_TRUE(alone->submit(CoreAlone::submission(count_manifest(1, 1), nonce)).has_value());
      alone->pass(std::chrono::seconds(1));
      const auto leases = alone->told<protocol::Lease>(1);
      ASSERT_THAT(leases, SizeIs(++done));
      ByteVector bytes;
      for (std::uint32_t i = 0; i < 4; ++i) append_le(bytes, i ^ mask);
      alone->deliver(1, leases.back(), leases.back().tasks.at(0), bytes);
      ASSERT_THAT(alone->verifications, SizeIs(done));
      const VerifyOrder order = alone->verifications.back();
      Checked checked{.outcome = trust::AuditOutcome::agrees};
      if (mask != 0)
        checked = {.outcome = trust::AuditOutcome::differs,
                   .wrong = order.ranges.front(),
                   .devices = trust::Devices::two};
      alone->core().checks().verified(order.task, order.root, checked, alone->now);
      alone->run();
    };
    run_job(2, when == When::now ? 0x80 : 0);

    run_job(3, 0);

    const auto verdicts = alone->told<protocol::Verdict>(1);
    ASSERT_THAT(verdicts, SizeIs(2));
    EXPECT_EQ(
        balance(ledger::Account::held(owner)) + balance(ledger::Account::held_granted(owner)) > 0,
        is_wrong);
    EXPECT_EQ(verdicts.back().reason.find("was found wrong") != std::string::npos, is_wrong)
        << verdicts.back().reason;
  }
}

}  // namespace
}  // namespace weft::jobs
