// A task is accepted once, only if enough different workers agree under valid receipts.
#include "decisions/trust/trust.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weft::trust {
namespace {

PublicKey worker(std::uint8_t number) {
  PublicKey key;
  key.bytes[0] = number;
  return key;
}
Hash root(std::uint8_t number) {
  Hash hash;
  hash.bytes[0] = number;
  return hash;
}
const JobId job = [] {
  JobId id;
  id.bytes[3] = 7;
  return id;
}();
const TaskId task{job, 0};

// Delivers the result and the receipt of one worker, and returns the decisions of both.
std::vector<Decision> deliver(Trust& trust, std::uint8_t who, std::uint8_t what,
                              TaskId which = task) {
  std::vector<Decision> out =
      trust.add_result({.task = which, .worker = worker(who), .attempt = 1, .root = root(what)});
  std::ranges::move(
      trust.add_receipt(worker(who),
                        std::vector<Claim>{{.task = which, .attempt = 1, .root = root(what)}}),
      std::back_inserter(out));
  return out;
}
template <class T>
const T* find(const std::vector<Decision>& decisions) {
  for (const Decision& decision : decisions) {
    if (const T* wanted = std::get_if<T>(&decision)) return wanted;
  }
  return nullptr;
}
// Compares roots that stand for numbers: they agree if they differ by at most one.
bool within_one(const TaskId&, const Hash& a, const Hash& b) {
  return std::abs(int{a.bytes[0]} - int{b.bytes[0]}) <= 1;
}

TEST(Trust, AcceptsWhenTheQuorumAgrees) {
  Trust trust;
  trust.add_job(job, {.replicas = 2, .agree = {}}, 1);

  const auto first = deliver(trust, 1, 5);
  EXPECT_NE(find<Counted>(first), nullptr);
  EXPECT_EQ(find<Accepted>(first), nullptr);
  const auto second = deliver(trust, 2, 5);

  const Accepted* accepted = find<Accepted>(second);
  ASSERT_NE(accepted, nullptr);
  EXPECT_EQ(accepted->root, root(5));
  EXPECT_EQ(accepted->agreeing, (std::vector{worker(1), worker(2)}));
  EXPECT_TRUE(trust.is_accepted(task));
  EXPECT_EQ(trust.accepted_count(job), 1U);
  EXPECT_EQ(trust.reputation(worker(1)), (Reputation{.accepted = 1, .refused = 0}));
}

TEST(Trust, CountsNothingWithoutAReceipt) {
  Trust trust;
  trust.add_job(job, {.replicas = 1, .agree = {}}, 1);

  const auto decisions =
      trust.add_result({.task = task, .worker = worker(1), .attempt = 1, .root = root(5)});

  EXPECT_TRUE(decisions.empty());
  EXPECT_FALSE(trust.is_accepted(task));
}

TEST(Trust, TakesAReceiptThatComesBeforeItsResult) {
  Trust trust;
  trust.add_job(job, {.replicas = 1, .agree = {}}, 1);

  EXPECT_TRUE(
      trust
          .add_receipt(worker(1), std::vector<Claim>{{.task = task, .attempt = 1, .root = root(5)}})
          .empty());
  const auto decisions =
      trust.add_result({.task = task, .worker = worker(1), .attempt = 1, .root = root(5)});

  EXPECT_NE(find<Accepted>(decisions), nullptr);
}

TEST(Trust, ForgetsClaimsOfThoseWhoAreGone) {
  Trust trust;
  trust.add_job(job, {.replicas = 1, .agree = {}}, 1);
  EXPECT_TRUE(
      trust
          .add_receipt(worker(1), std::vector<Claim>{{.task = task, .attempt = 1, .root = root(5)}})
          .empty());

  trust.forget_claims(worker(1));

  EXPECT_TRUE(
      trust.add_result({.task = task, .worker = worker(1), .attempt = 1, .root = root(5)}).empty());
  EXPECT_FALSE(trust.is_accepted(task));
}

TEST(Trust, DoesNotLetOneWorkersReceiptCoverAnothersResult) {
  Trust trust;
  trust.add_job(job, {.replicas = 1, .agree = {}}, 1);
  ASSERT_TRUE(
      trust.add_result({.task = task, .worker = worker(1), .attempt = 1, .root = root(5)}).empty());

  const auto decisions = trust.add_receipt(
      worker(2), std::vector<Claim>{{.task = task, .attempt = 1, .root = root(5)}});

  EXPECT_TRUE(decisions.empty());
  EXPECT_FALSE(trust.is_accepted(task));
}

TEST(Trust, RefusesAResultWhoseReceiptNamesAnotherRoot) {
  Trust trust;
  trust.add_job(job, {.replicas = 1, .agree = {}}, 1);
  ASSERT_TRUE(
      trust.add_result({.task = task, .worker = worker(1), .attempt = 1, .root = root(5)}).empty());

  const auto decisions = trust.add_receipt(
      worker(1), std::vector<Claim>{{.task = task, .attempt = 1, .root = root(6)}});

  ASSERT_NE(find<Refused>(decisions), nullptr);
  EXPECT_EQ(find<Accepted>(decisions), nullptr);
  EXPECT_NE(find<Accepted>(deliver(trust, 1, 5)), nullptr) << "the worker may try again";
}

TEST(Trust, RefusesTheSameWorkersSecondResult) {
  Trust trust;
  trust.add_job(job, {.replicas = 2, .agree = {}}, 1);
  ASSERT_NE(find<Counted>(deliver(trust, 1, 5)), nullptr);

  const auto again = deliver(trust, 1, 5);

  ASSERT_NE(find<Refused>(again), nullptr);
  EXPECT_EQ(find<Refused>(again)->reason, "This worker has delivered this task already.");
  EXPECT_FALSE(trust.is_accepted(task));
}

TEST(Trust, AsksForAnotherReplicaWhereTwoDifferAndTheMajorityWins) {
  Trust trust;
  trust.add_job(job, {.replicas = 2, .agree = {}}, 1);
  ASSERT_NE(find<Counted>(deliver(trust, 1, 5)), nullptr);

  const auto second = deliver(trust, 2, 6);
  ASSERT_NE(find<NeedReplicas>(second), nullptr);
  EXPECT_EQ(find<NeedReplicas>(second)->replicas, 3U);
  const auto third = deliver(trust, 3, 5);

  ASSERT_NE(find<Accepted>(third), nullptr);
  EXPECT_EQ(find<Accepted>(third)->agreeing, (std::vector{worker(1), worker(3)}));
  ASSERT_NE(find<Refused>(third), nullptr);
  EXPECT_EQ(find<Refused>(third)->worker, worker(2));
  EXPECT_EQ(trust.reputation(worker(2)), (Reputation{.accepted = 0, .refused = 1}));
}

TEST(Trust, FailsTheJobWhereNoMajorityIsPossible) {
  Trust trust;
  trust.add_job(job, {.replicas = 2, .agree = {}}, 1);
  (void)deliver(trust, 1, 5);
  (void)deliver(trust, 2, 6);

  const auto third = deliver(trust, 3, 7);

  ASSERT_NE(find<JobFailed>(third), nullptr);
  EXPECT_EQ(find<JobFailed>(third)->reason,
            "replicas differ: task 0 has 3 results of which no 2 agree.");
  EXPECT_NE(find<Refused>(deliver(trust, 4, 5)), nullptr) << "the job is gone";
}

TEST(Trust, GivesUpOnlyWhereReplicasDiffer) {
  Trust trust;
  trust.add_job(job, {.replicas = 2, .agree = {}}, 1);
  (void)deliver(trust, 1, 5);
  EXPECT_TRUE(trust.give_up(task).empty());
  (void)deliver(trust, 2, 6);

  EXPECT_NE(find<JobFailed>(trust.give_up(task)), nullptr);
}

TEST(Trust, TakesTheReplicaInTheMiddleOfAToleranceWhicheverCameFirst) {
  for (const auto& order :
       std::vector<std::vector<std::uint8_t>>{{4, 5, 6}, {6, 4, 5}, {5, 6, 4}, {6, 5, 4}}) {
    Trust trust;
    trust.add_job(job, {.replicas = 3, .agree = within_one}, 1);
    (void)deliver(trust, order[0], order[0]);
    (void)deliver(trust, order[1], order[1]);

    const auto last = deliver(trust, order[2], order[2]);

    ASSERT_NE(find<Accepted>(last), nullptr);
    EXPECT_EQ(find<Accepted>(last)->root, root(5))
        << "4 and 6 are two apart; only 5 is within one of all";
    EXPECT_EQ(find<Accepted>(last)->worker, worker(5));
  }
}

TEST(Trust, TakesTheSmallestRootAmongSeveralThatWouldDo) {
  for (const std::uint8_t first : std::initializer_list<std::uint8_t>{8, 9}) {
    Trust trust;
    trust.add_job(job, {.replicas = 2, .agree = within_one}, 1);
    (void)deliver(trust, 1, first);

    const auto second = deliver(trust, 2, static_cast<std::uint8_t>(17 - first));

    EXPECT_EQ(find<Accepted>(second)->root, root(8));
  }
}

TEST(Trust, ForgetsAnUncoveredResultWhoseLeaseWasLost) {
  Trust trust;
  trust.add_job(job, {.replicas = 1, .agree = {}}, 1);
  (void)trust.add_result({.task = task, .worker = worker(1), .attempt = 1, .root = root(5)});

  trust.withdraw(task, worker(1));

  EXPECT_TRUE(
      trust
          .add_receipt(worker(1), std::vector<Claim>{{.task = task, .attempt = 1, .root = root(5)}})
          .empty());
  EXPECT_FALSE(trust.is_accepted(task));
}

TEST(Trust, RefusesTasksThatDoNotExistOrAreSettled) {
  Trust trust;
  trust.add_job(job, {.replicas = 1, .agree = {}}, 2);
  ASSERT_NE(find<Accepted>(deliver(trust, 1, 5)), nullptr);

  EXPECT_EQ(find<Refused>(deliver(trust, 2, 5))->reason, "The task is settled already.");
  EXPECT_EQ(find<Refused>(deliver(trust, 2, 5, {job, 2}))->reason, "The task does not exist.");
  EXPECT_EQ(find<Refused>(deliver(trust, 2, 5, {JobId{}, 0}))->reason, "The task does not exist.");
}

TEST(Trust, GoesOnFromWhatWasStored) {
  Trust trust;
  trust.add_job(job, {.replicas = 2, .agree = {}}, 2);
  trust.restore_accepted({job, 1});
  trust.restore_counted({.task = task, .worker = worker(1), .attempt = 3, .root = root(5)});

  EXPECT_EQ(trust.accepted_count(job), 1U);
  EXPECT_NE(find<Refused>(deliver(trust, 1, 5)), nullptr) << "one worker, two replicas";
  EXPECT_NE(find<Accepted>(deliver(trust, 2, 5)), nullptr);
}

TEST(Trust, AsksAgainAfterARestartForTheReplicaThatWasWanted) {
  Trust trust;
  trust.add_job(job, {.replicas = 2, .agree = {}}, 1);
  trust.restore_counted({.task = task, .worker = worker(1), .attempt = 1, .root = root(5)});
  trust.restore_counted({.task = task, .worker = worker(2), .attempt = 1, .root = root(6)});

  const auto decisions = trust.restored(job);

  ASSERT_NE(find<NeedReplicas>(decisions), nullptr);
  EXPECT_EQ(find<NeedReplicas>(decisions)->replicas, 3U);
}

TEST(Trust, KeepsABoundOnClaimsWithoutResults) {
  Trust trust;
  trust.add_job(job, {.replicas = 1, .agree = {}}, 10'000);
  for (std::uint32_t i = 0; i < 10'000; ++i)
    (void)trust.add_receipt(worker(1),
                            std::vector<Claim>{{.task = {job, i}, .attempt = 1, .root = root(5)}});

  const auto dropped =
      trust.add_result({.task = {job, 0}, .worker = worker(1), .attempt = 1, .root = root(5)});
  const auto kept =
      trust.add_result({.task = {job, 9'999}, .worker = worker(1), .attempt = 1, .root = root(5)});

  EXPECT_TRUE(dropped.empty());
  EXPECT_NE(find<Accepted>(kept), nullptr);
}

}  // namespace
}  // namespace weft::trust
