// Tests of the levels of workers in audits of answers: whose audit counts, how many answers a
// sleeper can forge before it is found, and what convicts a worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "apps/coordinator/test_answers.h"
#include "common/proof/fingerprint.h"
#include "decisions/billing/answers.h"
#include "decisions/jobs/completions.h"

namespace weft::coordinator {
namespace {

class AnswerLevels : public AnswerTest {
 protected:
  billing::AnswerId answer(const PublicKey& by, bool must_audit = false) {
    const billing::AnswerId id = network.new_ids(1).front();
    constexpr std::uint32_t tokens = 40;
    inference::AnswerEnd end{.reason = "eos", .prompt_tokens = 10};
    end.answered.assign(tokens, 5);
    for (const std::uint32_t at : {0U, 32U, tokens}) end.prints[at] = ByteVector{1};
    end.work.push_back({.worker = by, .work = tokens});
    network.post([=](jobs::Core& core, jobs::Moment now) {
      core.completions().answered({.id = id, .end = end, .must_audit = must_audit}, now);
    });
    network.run();
    return id;
  }
  // Answers the core's audit orders with one auditor after another, until no more audits are
  // ordered. `doubtful` is the number of the answer's tokens that the request's settings do not
  // give; 0 means that the answer is right.
  void audit_by(const std::vector<PublicKey>& auditors, std::uint32_t doubtful) {
    while (!network.audits.empty()) {
      const billing::AnswerAuditOrder order = network.audits.back();
      network.audits.clear();
      const auto one = std::ranges::find_if(auditors, [&](const PublicKey& auditor) {
        return !std::ranges::contains(order.except, auditor);
      });
      billing::AnswerAudited audited{.id = order.id};
      if (one != auditors.end()) {
        audited.auditors = {*one};
        audited.verdict =
            doubtful > 0 ? billing::AnswerVerdict::differs : billing::AnswerVerdict::agrees;
        audited.doubtful = doubtful;
      }
      network.post(
          [=](jobs::Core& core, jobs::Moment now) { core.completions().audited(audited, now); });
      network.run();
    }
  }
  // Lets a worker give answers until roots have confirmed enough of them to establish it.
  void establish(const PublicKey& worker, const std::vector<PublicKey>& roots, int answers = 150) {
    for (int i = 0; i < answers; ++i) {
      answer(worker, true);
      audit_by(roots, 0);
    }
  }
};

TEST_F(AnswerLevels, AllOfANewcomersAnswersAreAuditedAndNewcomersAuditNone) {
  const PublicKey newcomer = join(trust::Invitation::none), other = join(trust::Invitation::none),
                  root = join(trust::Invitation::verifier);
  for (int i = 0; i < 9; ++i) {  // Ten confirmed answers would establish a newcomer.
    const auto id = answer(newcomer);
    ASSERT_EQ(network.audits.size(), 1U) << i;
    EXPECT_THAT(network.audits[0].except, testing::IsSupersetOf({newcomer, other}));
    EXPECT_THAT(network.audits[0].except, testing::Not(testing::Contains(root)));
    audit_by({root}, 0);
    EXPECT_EQ(network.fates.at(id), billing::AnswerFate::verified);
  }
}

TEST_F(AnswerLevels, RootsAreAskedFirstAndInvitedWorkersWhereThereIsNone) {
  const PublicKey newcomer = join(trust::Invitation::none),
                  invited = join(trust::Invitation::worker);
  join(trust::Invitation::verifier);
  const auto id = answer(newcomer);
  EXPECT_THAT(network.audits.back().except, testing::Contains(invited));
  // The audit fails because the root has no room for the model.
  network.audits.clear();
  network.post(
      [&](jobs::Core& core, jobs::Moment now) { core.completions().audited({.id = id}, now); });
  network.run();
  ASSERT_EQ(network.audits.size(), 1U);
  EXPECT_THAT(network.audits.back().except, testing::Not(testing::Contains(invited)));
  audit_by({invited}, 0);
  EXPECT_EQ(network.fates.at(id), billing::AnswerFate::verified);
}

TEST_F(AnswerLevels, AtLeastAFifthOfAnInvitedOrEstablishedWorkersAnswersAreAudited) {
  const PublicKey worker = join(trust::Invitation::none), root = join(trust::Invitation::verifier);
  establish(worker, {root});
  int audited = 0;
  constexpr int answers = 3'000;
  for (int i = 0; i < answers; ++i) {
    answer(worker);
    audited += network.audits.empty() ? 0 : 1;
    audit_by({root}, 0);
  }
  // The expected share is 0.2 or slightly more; four standard deviations are 0.03.
  EXPECT_GT(audited, answers * 0.17);
  EXPECT_LT(audited, answers * 0.25) << "and not all of them any more";
}

TEST_F(AnswerLevels, AnAnswerThatItsClientWaitsForIsAudited) {
  const PublicKey worker = join(trust::Invitation::none), root = join(trust::Invitation::verifier);
  establish(worker, {root});
  for (int i = 0; i < 20; ++i) {
    const auto id = answer(worker, true);
    ASSERT_EQ(network.audits.size(), 1U);
    EXPECT_FALSE(network.fates.contains(id)) << "not before";
    audit_by({root}, 0);
    EXPECT_EQ(network.fates.at(id), billing::AnswerFate::verified);
  }
  const auto id = answer(worker, true);
  audit_by({}, 0);
  EXPECT_EQ(network.fates.at(id), billing::AnswerFate::unaudited);
}

TEST_F(AnswerLevels, OneDoubtfulTokenRefutesAndTwoThatTwoRootsFoundConvict) {
  const PublicKey worker = join(trust::Invitation::none), one = join(trust::Invitation::verifier),
                  two = join(trust::Invitation::verifier);
  establish(worker, {one});
  const auto first = answer(worker, true);
  audit_by({one, two}, 1);
  EXPECT_EQ(network.fates.at(first), billing::AnswerFate::refuted);
  EXPECT_TRUE(network.barred.empty()) << "one token";

  const auto second = answer(worker, true);
  audit_by({one, two}, 1);
  EXPECT_EQ(network.fates.at(second), billing::AnswerFate::refuted);
  EXPECT_EQ(network.barred, std::vector{worker}) << "the second token";
}

TEST_F(AnswerLevels, OneRootAloneConvictsNoWorker) {
  const PublicKey worker = join(trust::Invitation::none), root = join(trust::Invitation::verifier);
  establish(worker, {root});
  for (int i = 0; i < 5; ++i) {
    const auto id = answer(worker, true);
    audit_by({root}, 9);
    EXPECT_EQ(network.fates.at(id), billing::AnswerFate::refuted);
  }
  EXPECT_TRUE(network.barred.empty());
}

// Each sleeper gives 150 honest answers and then forges all. At most 5 forged answers are expected
// to reach clients before the convicting audit.
TEST_F(AnswerLevels, ASleeperForgesFewAnswersBeforeItIsConvicted) {
  const PublicKey one = join(trust::Invitation::verifier), two = join(trust::Invitation::verifier);
  constexpr int sleepers = 40;
  int forged = 0;
  for (int i = 0; i < sleepers; ++i) {
    const PublicKey sleeper = join(trust::Invitation::none);
    establish(sleeper, {one});
    for (int told = 0; !std::ranges::contains(network.barred, sleeper); ++told) {
      ASSERT_LT(told, 100);
      answer(sleeper);
      if (network.audits.empty()) {
        ++forged;
      } else {
        audit_by({one, two}, 12);
      }
    }
  }
  std::printf("  %.2f forged answers each\n", static_cast<double>(forged) / sleepers);
  // The mean of 40 sleepers is within 2.1 of the expected 4 (three standard deviations).
  EXPECT_LT(forged, sleepers * 6.1);
}

}  // namespace
}  // namespace weft::coordinator
