// A worker that commits to the roots of its steps before the draw is checked in drawn groups of
// steps. Tests which groups are drawn, on what the draw depends, and what silence costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "decisions/trust/referee.h"
#include "decisions/trust/step_draw.h"
#include "decisions/trust/test_parts.h"

namespace weft::trust {
namespace {

constexpr std::uint32_t groups = 32;
constexpr MicroCredits value = 1000;
constexpr MicroCredits plenty = 1'000'000'000;

std::vector<Hash> roots_with(std::uint32_t group, std::uint8_t changed) {
  std::vector<Hash> roots(groups - 1, part_root(1));
  if (group < roots.size()) roots[group] = part_root(changed);
  return roots;
}

template <class T>
std::vector<T> all(const std::vector<Ruling>& rulings) {
  std::vector<T> found;
  for (const Ruling& ruling : rulings) {
    if (const T* one = std::get_if<T>(&ruling)) found.push_back(*one);
  }
  return found;
}

class StepChecksTest : public testing::Test {
 protected:
  void open(const RefereeSettings& chosen = {}, std::uint32_t replicas = 1) {
    referee.emplace(chosen, Secret{});
    referee->standing().set_root_at_hand([] { return true; });
    referee->add_job(part_task(0).job, {.replicas = replicas, .groups = groups}, 100);
    referee->standing().book().restore(part_worker(50),
                                       {.verified = 1000, .updated = part_now, .wrong = 0});
  }
  // Gives a newcomer this number of confirmed results.
  void confirm(std::uint8_t worker, std::uint32_t results) {
    for (std::uint32_t i = 0; i < results; ++i)
      referee->standing().book().confirm(part_worker(worker), 1, part_now);
  }
  std::vector<Ruling> hand_in(std::uint32_t index, std::uint8_t worker,
                              const std::vector<Hash>& before, std::uint8_t root = 5,
                              StepRoots asked = StepRoots::asked) {
    auto out =
        referee->leased(part_task(index), part_worker(worker), value, plenty, part_now, asked);
    const auto add = [&](std::vector<Ruling> more) {
      std::ranges::move(more, std::back_inserter(out));
    };
    add(referee->add_result({.task = part_task(index),
                             .worker = part_worker(worker),
                             .attempt = 1,
                             .root = part_root(root),
                             .steps = committed_steps(before, part_root(root))},
                            part_now));
    const std::array claims{Claim{.task = part_task(index), .attempt = 1, .root = part_root(root)}};
    add(referee->add_receipt(part_worker(worker), claims, part_now));
    return out;
  }
  std::vector<std::uint32_t> drawn(std::uint32_t index, std::uint8_t worker,
                                   const std::vector<Hash>& before) {
    const auto wanted = all<AuditWanted>(hand_in(index, worker, before));
    EXPECT_EQ(wanted.size(), 1U);
    return wanted.empty() ? std::vector<std::uint32_t>() : wanted[0].groups;
  }

  std::optional<Referee> referee;
};

TEST_F(StepChecksTest, ANewcomersFirstResultIsCheckedWholeAndLaterOnesInFewerGroups) {
  open();
  EXPECT_TRUE(drawn(0, 1, roots_with(0, 2)).empty()) << "no state is asked for a whole check";
  confirm(1, 1);
  EXPECT_TRUE(drawn(3, 1, roots_with(0, 2)).empty()) << "16 groups are more than a check computes";
  confirm(1, 6);
  EXPECT_EQ(drawn(1, 1, roots_with(0, 2)).size(), 4U);
  confirm(1, 100);
  const auto one = all<AuditWanted>(hand_in(2, 1, roots_with(0, 2)));

  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].groups.size(), 1U);
  EXPECT_EQ(one[0].parts, 1U) << "workers that check it compute all of it";
}

TEST_F(StepChecksTest, AResultWithoutRootsIsCheckedWhole) {
  open();
  confirm(1, 100);

  const auto wanted = all<AuditWanted>(hand_in(0, 1, {}));

  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_TRUE(wanted[0].groups.empty());
}

TEST_F(StepChecksTest, OtherRootsGiveAnotherDrawAndTheSameRootsTheSame) {
  open();
  confirm(1, 100);
  const auto first = drawn(0, 1, roots_with(3, 0));
  std::set<std::vector<std::uint32_t>> seen;
  for (std::uint8_t changed = 0; changed < 20; ++changed) {
    open();  // Replaces the coordinator by a new one.
    confirm(1, 100);
    seen.insert(drawn(0, 1, roots_with(3, changed)));
  }
  EXPECT_GT(seen.size(), 5U) << "of 32 groups";
  open();
  confirm(1, 100);

  EXPECT_EQ(drawn(0, 1, roots_with(3, 0)), first);
}

TEST_F(StepChecksTest, WithoutTheRuleAWorkerKnowsTheDrawBeforeItChoosesItsRoots) {
  RefereeSettings weak;
  weak.defences.groups_depend_on_roots = false;
  std::set<std::vector<std::uint32_t>> seen;
  for (std::uint8_t changed = 0; changed < 20; ++changed) {
    open(weak);
    confirm(1, 100);
    seen.insert(drawn(0, 1, roots_with(3, changed)));
  }

  EXPECT_EQ(seen.size(), 1U);
}

TEST_F(StepChecksTest, TheDrawDiffersBetweenWorkersAndResultsWithTheSameRoots) {
  std::set<std::vector<std::uint32_t>> seen;
  const Hash steps = committed_steps(roots_with(0, 0), part_root(5));
  for (std::uint8_t worker = 0; worker < 20; ++worker)
    seen.insert(drawn_groups({.task = part_task(0), .worker = part_worker(worker), .steps = steps},
                             groups, 1, {}));
  EXPECT_GT(seen.size(), 5U);

  EXPECT_NE(committed_steps(roots_with(0, 0), part_root(5)),
            committed_steps(roots_with(0, 0), part_root(6)));
  EXPECT_EQ(committed_steps({}, part_root(5)), Hash());
}

TEST_F(StepChecksTest, ManyGroupsAreAllDifferentAndInOrder) {
  const auto many = drawn_groups({.task = part_task(0), .worker = {}, .steps = part_root(1)},
                                 groups, groups - 1, {});

  EXPECT_EQ(std::set(many.begin(), many.end()).size(), groups - 1);
  EXPECT_TRUE(std::ranges::is_sorted(many));
  EXPECT_LT(many.back(), groups);
}

TEST_F(StepChecksTest, AfterARestartTheSameGroupsAreDrawn) {
  open();
  confirm(1, 100);
  const auto before = drawn(0, 1, roots_with(3, 9));
  open();
  confirm(1, 100);
  referee->votes().restore_counted({.task = part_task(0),
                                    .worker = part_worker(1),
                                    .attempt = 1,
                                    .root = part_root(5),
                                    .steps = committed_steps(roots_with(3, 9), part_root(5))});

  const auto wanted = all<AuditWanted>(
      referee
          ->restored(
              part_task(0).job, value, [](const PublicKey&) { return plenty; }, {}, part_now)
          .value());

  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_EQ(wanted[0].groups, before);
}

TEST_F(StepChecksTest, ResultsThatDifferAreComparedWhole) {
  open({}, 2);
  confirm(1, 3);
  confirm(2, 3);
  (void)hand_in(0, 1, roots_with(0, 2), 5);

  const auto wanted = all<AuditWanted>(hand_in(0, 2, roots_with(0, 3), 6));

  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_TRUE(wanted[0].dispute);
  EXPECT_TRUE(wanted[0].groups.empty());
}

TEST_F(StepChecksTest, AResultThatAnAuditorCallsWrongIsCheckedWhole) {
  open();
  confirm(1, 100);
  ASSERT_FALSE(drawn(0, 1, roots_with(0, 2)).empty());

  const auto wanted = all<AuditWanted>(
      referee->audited(part_task(0), part_worker(50), AuditOutcome::differs, part_now));

  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_TRUE(wanted[0].dispute);
  EXPECT_TRUE(wanted[0].groups.empty()) << "the auditor computed all steps";
}

TEST_F(StepChecksTest, AWatchedWorkerIsCheckedWhole) {
  open();
  confirm(1, 100);
  referee->standing().watch(part_worker(1));

  EXPECT_TRUE(drawn(0, 1, roots_with(0, 2)).empty());
  EXPECT_TRUE(referee->standing().has_mistakes(part_worker(1)));
  EXPECT_FALSE(referee->standing().has_mistakes(part_worker(2)));
}

TEST_F(StepChecksTest, SilenceLosesTheResultAndCostsNoStanding) {
  open();
  confirm(1, 100);
  ASSERT_FALSE(drawn(0, 1, roots_with(0, 2)).empty());
  const double known = referee->book().verified(part_worker(1), part_now);

  const auto ruled = referee->unanswered(part_task(0), part_worker(1), part_now);

  const auto refused = all<Refused>(ruled);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_FALSE(refused[0].wrong);
  EXPECT_EQ(all<NeedReplicas>(ruled).size(), 1U) << "another worker computes the task";
  EXPECT_TRUE(all<Suspected>(ruled).empty());
  EXPECT_EQ(referee->book().verified(part_worker(1), part_now), known);
  EXPECT_FALSE(referee->standing().watched(part_worker(1)));
  EXPECT_EQ(referee->votes().reputation(part_worker(1)).refused, 0U);
  EXPECT_TRUE(referee->unanswered(part_task(0), part_worker(1), part_now).empty()) << "once";

  const auto next = hand_in(0, 2, roots_with(0, 2));
  ASSERT_EQ(all<AuditWanted>(next).size(), 1U);
  EXPECT_EQ(all<Accepted>(referee->audited(part_task(0), {}, AuditOutcome::agrees, part_now,
                                           Auditor::coordinator))
                .size(),
            1U);
}

TEST_F(StepChecksTest, SilenceOfAWorkerThatIsNotCheckedIsNothing) {
  open();
  confirm(1, 100);
  (void)hand_in(0, 1, roots_with(0, 2));

  EXPECT_TRUE(referee->unanswered(part_task(0), part_worker(2), part_now).empty());
  EXPECT_TRUE(referee->unanswered(part_task(1), part_worker(1), part_now).empty());
  EXPECT_TRUE(referee->audit_wanted(part_task(0)));
}

// Counts of an established worker's checked results, and of those that are checked whole.
struct Seen {
  std::uint32_t checked = 0;
  std::uint32_t whole = 0;
};

TEST_F(StepChecksTest, LeavingRootsOutMakesNoResultOfAnEstablishedWorkerCheckedMoreOften) {
  const auto seen = [&](bool with_roots) {
    open({}, 2);
    Seen out;
    for (std::uint32_t index = 0; index < 100; ++index) {
      const auto wanted =
          all<AuditWanted>(hand_in(index, 50, with_roots ? roots_with(0, 2) : std::vector<Hash>()));
      out.checked += static_cast<std::uint32_t>(wanted.size());
      if (!wanted.empty() && wanted[0].groups.empty()) ++out.whole;
    }
    return out;
  };

  const Seen with = seen(true);
  const Seen without = seen(false);

  EXPECT_GT(with.checked, 90U) << "one group of 32 of nearly each result";
  EXPECT_EQ(with.whole, 0U);
  EXPECT_LT(without.checked, 15U) << "one task of 32";
  EXPECT_EQ(without.whole, without.checked);
}

TEST_F(StepChecksTest, TheStakeCoversTheGroupsThatTheLeaseAsksFor) {
  PartTables tables({}, {.replicas = 2, .groups = groups});
  tables.establish(1);
  tables.standing.set_root_at_hand([] { return true; });
  const JobTerms& terms = tables.cases.at(part_task(0).job).terms;

  const CheckRates rates =
      tables.stakes.rates(part_worker(1), terms, part_now, terms.groups_if(StepRoots::asked));

  EXPECT_EQ(rates.parts, groups);
  const double found = rates.audit / rates.parts;
  EXPECT_GE(static_cast<double>(tables.stakes.at_risk(value, rates)),
            tables.settings.risk * static_cast<double>(value) / found - 1);
  EXPECT_EQ(terms.groups_if(StepRoots::not_asked), 1U);
}

}  // namespace
}  // namespace weft::trust
