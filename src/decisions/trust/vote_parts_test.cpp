// Tests the parts of the votes, each alone: early claims, the table of open tasks, groups of
// results that agree, decisions, and the counts of accepted and refused results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "decisions/trust/acceptance_counts.h"
#include "decisions/trust/early_claims.h"
#include "decisions/trust/vote_groups.h"
#include "decisions/trust/vote_judge.h"
#include "decisions/trust/vote_table.h"

namespace weft::trust {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

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
TaskId task(std::uint32_t index) { return {.job = job, .index = index}; }

// Compares roots that stand for numbers: they agree if they differ by at most one.
bool within_one(const TaskId&, const Hash& a, const Hash& b) {
  return std::abs(int{a.bytes[0]} - int{b.bytes[0]}) <= 1;
}

TEST(EarlyClaims, AClaimIsTakenOnceByItsAttempt) {
  EarlyClaims claims;
  claims.keep(worker(1), {.task = task(0), .attempt = 1, .root = root(5)});

  EXPECT_FALSE(claims.take(worker(2), task(0), 1).has_value());
  EXPECT_FALSE(claims.take(worker(1), task(0), 2).has_value());
  EXPECT_EQ(claims.take(worker(1), task(0), 1), root(5));
  EXPECT_FALSE(claims.take(worker(1), task(0), 1).has_value());
}

TEST(EarlyClaims, AClaimOfTheSameAttemptReplacesTheEarlierOneAndIsTheNewest) {
  EarlyClaims claims;
  claims.keep(worker(1), {.task = task(0), .attempt = 1, .root = root(5)});
  for (std::uint32_t i = 1; i < EarlyClaims::waiting_max; ++i)
    claims.keep(worker(1), {.task = task(i), .attempt = 1, .root = root(5)});

  claims.keep(worker(1), {.task = task(0), .attempt = 1, .root = root(6)});
  claims.keep(worker(1), {.task = task(EarlyClaims::waiting_max), .attempt = 1, .root = root(5)});

  EXPECT_EQ(claims.take(worker(1), task(0), 1), root(6));
  EXPECT_FALSE(claims.take(worker(1), task(1), 1).has_value()) << "the oldest was dropped";
}

TEST(EarlyClaims, NoMoreThanTheBoundWaitOfAWorkerAndOthersKeepTheirs) {
  EarlyClaims claims;
  claims.keep(worker(2), {.task = task(0), .attempt = 1, .root = root(5)});
  for (std::uint32_t i = 0; i < EarlyClaims::waiting_max + 10; ++i)
    claims.keep(worker(1), {.task = task(i), .attempt = 1, .root = root(5)});

  EXPECT_EQ(claims.count(worker(1)), EarlyClaims::waiting_max);
  EXPECT_EQ(claims.count(worker(2)), 1U);
  claims.forget(worker(1));
  EXPECT_EQ(claims.count(worker(1)), 0U);
}

TEST(AcceptanceCounts, ARestoredWorkerIsCountedOn) {
  AcceptanceCounts counts;
  counts.restore(worker(1), {.accepted = 3, .refused = 1});

  counts.accepted(worker(1));
  counts.refused(worker(2));

  EXPECT_EQ(counts.of(worker(1)), (Reputation{.accepted = 4, .refused = 1}));
  EXPECT_EQ(counts.of(worker(2)), (Reputation{.accepted = 0, .refused = 1}));
  EXPECT_EQ(counts.of(worker(3)), Reputation{});
}

class Votes : public testing::Test {
 protected:
  void add_job(Policy policy) { table_.add_job(job, std::move(policy), 4); }
  // Adds a covered result of task 0.
  void vote(std::uint8_t who, std::uint8_t what, bool rejected = false) {
    const auto open = table_.open(task(0));
    ASSERT_TRUE(open.has_value());
    open->votes.wanted = std::max(open->votes.wanted, open->policy.replicas);
    open->votes.replicas.push_back({.worker = worker(who),
                                    .attempt = 1,
                                    .root = root(what),
                                    .covered = true,
                                    .rejected = rejected});
  }
  VoteTable::Open open() { return *table_.find(task(0)); }
  VoteGroups groups() { return VoteGroups(open()); }
  std::vector<Decision> judge() {
    std::vector<Decision> out;
    judge_.judge(open(), out);
    return out;
  }

  VoteTable table_;
  AcceptanceCounts counts_;
  VoteJudge judge_{table_, counts_};
};

TEST_F(Votes, ATaskIsOpenFromItsFirstResultUntilItIsSettledAndNeverAgain) {
  add_job({.replicas = 2, .agree = {}});
  EXPECT_FALSE(table_.find(task(0)).has_value());
  EXPECT_FALSE(table_.open(task(4)).has_value()) << "the job has four tasks";
  vote(1, 5);
  EXPECT_TRUE(table_.find(task(0)).has_value());
  EXPECT_THAT(table_.open_tasks(job), ElementsAre(task(0)));

  EXPECT_THAT(table_.settle(task(0)).replicas, SizeIs(1));

  EXPECT_TRUE(table_.is_accepted(task(0)));
  EXPECT_EQ(table_.accepted_count(job), 1U);
  EXPECT_FALSE(table_.find(task(0)).has_value());
  EXPECT_FALSE(table_.open(task(0)).has_value());
  table_.remove_job(job);
  EXPECT_FALSE(table_.has(task(0)));
  EXPECT_EQ(table_.accepted_count(job), 0U);
}

TEST_F(Votes, OnlyCoveredResultsThatWereNotRejectedCount) {
  add_job({.replicas = 3, .agree = {}});
  vote(1, 5);
  vote(2, 5, true);
  open().votes.replicas.push_back({.worker = worker(3), .attempt = 1, .root = root(5)});

  EXPECT_EQ(open().votes.covered(), 2U);
  EXPECT_EQ(open().votes.counting(), 1U);
  EXPECT_EQ(open().votes.rejected(), 1U);
  EXPECT_THAT(groups().quorum(), ElementsAre(0));
  EXPECT_THAT(groups().all_with(root(5)), ElementsAre(0));
}

TEST_F(Votes, AQuorumHasTheCentreThatMostAgreeWithAndAmongSeveralTheSmallestRoot) {
  add_job({.replicas = 3, .agree = within_one});
  vote(1, 7);
  vote(2, 6);
  vote(3, 5);

  EXPECT_THAT(groups().quorum(), ElementsAre(1, 0, 2)) << "6 agrees with both";
  EXPECT_THAT(groups().all_with(root(5)), ElementsAre(2, 1)) << "the one that has the root first";
  EXPECT_THAT(groups().all_with(root(4)), IsEmpty()) << "no result has it";
}

TEST_F(Votes, ABallotCountsTheLargestGroupAndWhatTheNextOneHasBesidesIt) {
  add_job({.replicas = 1, .agree = within_one});
  vote(1, 5);
  vote(2, 5);
  vote(3, 5);
  vote(4, 9);
  vote(5, 9);
  vote(6, 6);

  const auto count = groups().count();

  EXPECT_THAT(count.best, ElementsAre(0, 1, 2, 5));
  EXPECT_EQ(count.rival, 2U);
  EXPECT_EQ(count.votes, 6U);
}

TEST_F(Votes, GroupsAreBelievedToDifferWhereTheirWorkersDecide) {
  add_job({.replicas = 2, .agree = {}, .decides = [](std::span<const PublicKey> workers) {
             return std::ranges::any_of(workers,
                                        [](const PublicKey& each) { return each.bytes[0] < 10; });
           }});
  vote(1, 5);
  vote(20, 6);
  EXPECT_FALSE(groups().believed_differ()) << "one of them is a newcomer's";
  EXPECT_THAT(groups().by_agreement(), SizeIs(2));

  vote(2, 6);

  EXPECT_TRUE(groups().believed_differ());
  EXPECT_EQ(groups().by_agreement().front().root, root(6)) << "the larger one first";
}

TEST_F(Votes, AnAcceptedTaskRefusesTheRestAndIsCounted) {
  add_job({.replicas = 2, .agree = {}});
  vote(1, 5);
  vote(2, 6);
  vote(3, 5);

  const auto out = judge();

  ASSERT_THAT(out, SizeIs(2));
  EXPECT_THAT(std::get<Accepted>(out[0]).agreeing, ElementsAre(worker(1), worker(3)));
  EXPECT_TRUE(std::get<Refused>(out[1]).wrong);
  EXPECT_EQ(std::get<Refused>(out[1]).margin, 1U);
  EXPECT_TRUE(table_.is_accepted(task(0)));
  EXPECT_EQ(counts_.of(worker(1)).accepted, 1U);
  EXPECT_EQ(counts_.of(worker(2)).refused, 1U);
}

TEST_F(Votes, ResultsThatDifferWantAnotherAndEndTheJobAtTheBound) {
  add_job({.replicas = 2, .agree = {}});
  vote(1, 5);
  vote(2, 6);
  const auto first = judge();
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(std::get<NeedReplicas>(first[0]).replicas, 3U);
  vote(3, 7);

  const auto last = judge();

  ASSERT_THAT(last, SizeIs(1));
  EXPECT_EQ(std::get<JobFailed>(last[0]).reason,
            "replicas differ: task 0 has 3 results of which no 2 agree.");
  EXPECT_FALSE(table_.has_job(job));
}

TEST_F(Votes, AHeldBallotIsProvisionalOnceAndItsWinnerDecides) {
  add_job({.replicas = 1, .agree = {}});
  vote(1, 5);
  vote(2, 5);
  open().votes.ballot = Ballot{.quorum = 2, .lead = 1, .held = true};

  const auto held = judge();
  ASSERT_THAT(held, SizeIs(1));
  EXPECT_THAT(std::get<Provisional>(held[0]).agreeing, ElementsAre(worker(1), worker(2)));
  EXPECT_THAT(judge(), IsEmpty());

  open().votes.ballot->winner = root(5);
  EXPECT_TRUE(std::holds_alternative<Accepted>(judge().front()));
}

TEST_F(Votes, WithoutAFurtherWorkerABallotIsContentWithASmallerLead) {
  add_job({.replicas = 1, .agree = {}});
  vote(1, 5);
  vote(2, 5);
  open().votes.ballot = Ballot{.quorum = 5, .lead = 4};
  std::vector<Decision> out;

  judge_.give_up(open(), 3, out);
  EXPECT_THAT(out, IsEmpty()) << "there are too few";
  judge_.give_up(open(), 2, out);

  ASSERT_FALSE(out.empty());
  EXPECT_TRUE(std::holds_alternative<Accepted>(out[0]));
}

TEST_F(Votes, WhoseAgreementDecidesNothingIsProvisional) {
  add_job({.replicas = 2, .agree = {}, .decides = [](std::span<const PublicKey> workers) {
             return workers.size() >= 3;
           }});
  vote(1, 5);
  vote(2, 5);
  const auto two = judge();
  ASSERT_THAT(two, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<Provisional>(two[0]));
  vote(3, 5);

  const auto three = judge();

  ASSERT_FALSE(three.empty());
  EXPECT_THAT(std::get<Accepted>(three[0]).jurors, ElementsAre(worker(3))) << "all of them decide";
}

}  // namespace
}  // namespace weft::trust
