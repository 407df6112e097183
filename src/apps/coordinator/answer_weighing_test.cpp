// Tests of answers that roots weigh: likelihood ratios add up over a worker's answers, a sum that
// shows smaller weights refutes, and two roots that find it convict. Only roots' readings count, an
// answer counts once, and sums outlive a restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "apps/coordinator/test_answers.h"
#include "common/proof/smaller_weights.h"
#include "decisions/jobs/completions.h"

namespace weft::coordinator {
namespace {

using billing::AnswerFate;
using Ratios = std::vector<double>;

// Two ratios of `some` stay below the bound, and three reach it.
const Ratios some{6, 4};
static_assert(20 < proof::ratio_least && proof::ratio_least < 30);

class AnswerWeighings : public AnswerTest {
 protected:
  // The next reading of an auditor. Without ratios it did not weigh the answer.
  struct Reading {
    PublicKey auditor;
    Ratios ratios{};
    std::uint32_t doubtful = 0;  // Above 0: the reading differs.
  };
  // An answer of these workers, read by these auditors in turn until no more audits are ordered.
  AnswerFate answer(const std::vector<PublicKey>& workers, std::vector<Reading> readings) {
    id = network.new_ids(1).front();
    constexpr std::uint32_t tokens = 40;
    inference::AnswerEnd end{.reason = "eos", .prompt_tokens = 10};
    end.answered.assign(tokens, 5);
    for (const std::uint32_t at : {0U, 32U, tokens}) end.prints[at] = ByteVector{1};
    for (const PublicKey& worker : workers) end.work.push_back({.worker = worker, .work = tokens});
    network.post([this, end](jobs::Core& core, jobs::Moment now) {
      core.completions().answered({.id = id, .end = end, .must_audit = true}, now);
    });
    network.run();
    while (!network.audits.empty()) {
      const billing::AnswerAuditOrder order = network.audits.back();
      network.audits.clear();
      const auto one = std::ranges::find_if(readings, [&](const Reading& reading) {
        return !std::ranges::contains(order.except, reading.auditor);
      });
      billing::AnswerAudited audited{.id = order.id, .file = file};
      if (one != readings.end()) {
        audited.auditors = {one->auditor};
        audited.verdict =
            one->doubtful > 0 ? billing::AnswerVerdict::differs : billing::AnswerVerdict::agrees;
        audited.doubtful = one->doubtful;
        audited.ratios = one->ratios;
        readings.erase(one);
      }
      network.post(
          [=](jobs::Core& core, jobs::Moment now) { core.completions().audited(audited, now); });
      network.run();
    }
    return network.fates.contains(id) ? network.fates.at(id) : AnswerFate::nothing;
  }
  AnswerFate answer(const PublicKey& worker, const std::vector<Reading>& readings) {
    return answer(std::vector{worker}, readings);
  }
  // Both roots read the same numbers.
  std::vector<Reading> both(const Ratios& ratios) {
    return {{.auditor = one, .ratios = ratios}, {.auditor = two, .ratios = ratios}};
  }

  Hash file{};
  billing::AnswerId id;
  const PublicKey one = join(trust::Invitation::verifier), two = join(trust::Invitation::verifier),
                  three = join(trust::Invitation::verifier);
  const PublicKey worker = join(trust::Invitation::worker);
};

TEST_F(AnswerWeighings, AddUpOverAnswersUntilTwoRootsConvict) {
  EXPECT_EQ(answer(worker, both(some)), AnswerFate::verified);
  EXPECT_EQ(answer(worker, both(some)), AnswerFate::verified);
  EXPECT_TRUE(network.barred.empty());

  EXPECT_EQ(answer(worker, both(some)), AnswerFate::refuted);

  EXPECT_EQ(network.barred, std::vector{worker});
}

TEST_F(AnswerWeighings, OfALongHonestPastAreNoCredit) {
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(answer(worker, both({-30, 1, -30})), AnswerFate::verified);

  for (int i = 0; i < 2; ++i) EXPECT_EQ(answer(worker, both(some)), AnswerFate::verified);

  EXPECT_EQ(answer(worker, both(some)), AnswerFate::refuted);
}

TEST_F(AnswerWeighings, AreFoundWithinAnAnswerWhateverFollows) {
  EXPECT_EQ(answer(worker, both({30, -1000})), AnswerFate::refuted);
}

TEST_F(AnswerWeighings, AreOfOneWorkerAndOneFile) {
  const PublicKey other = join(trust::Invitation::worker);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(answer(worker, both(some)), AnswerFate::verified);
    EXPECT_EQ(answer(other, both(some)), AnswerFate::verified);
  }
  file.bytes[0] = 1;
  EXPECT_EQ(answer(worker, both(some)), AnswerFate::verified);
}

TEST_F(AnswerWeighings, ByOneRootAloneRefuteAndConvictNone) {
  for (int i = 0; i < 2; ++i) (void)answer(worker, both(some));

  EXPECT_EQ(answer(worker, {{.auditor = one, .ratios = some}}), AnswerFate::refuted);
  EXPECT_TRUE(network.barred.empty());
  EXPECT_EQ(answer(worker, {{.auditor = one, .ratios = {1}}}), AnswerFate::refuted)
      << "its sum stays";
  EXPECT_EQ(answer(worker, {{.auditor = one, .ratios = {-40}}}), AnswerFate::verified);
}

// The first root finds a token that the second does not: both readings are of one answer.
TEST_F(AnswerWeighings, OfAnAnswerThatRootsReadTwiceCountOnce) {
  EXPECT_EQ(answer(worker, {{.auditor = one, .ratios = {20}, .doubtful = 1},
                            {.auditor = two, .ratios = {20}},
                            {.auditor = three, .ratios = {20}}}),
            AnswerFate::verified);
  EXPECT_EQ(answer(worker, both({5})), AnswerFate::verified) << "25, not 45 or more";
}

TEST_F(AnswerWeighings, OfASecondRootAreAddedToTheSumBeforeTheAnswer) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(answer(worker, both(some)), AnswerFate::verified);

  // The first root finds 30; the others find 21.
  EXPECT_EQ(answer(worker, {{.auditor = one, .ratios = some},
                            {.auditor = two, .ratios = {1}},
                            {.auditor = three, .ratios = {1}}}),
            AnswerFate::verified);

  EXPECT_EQ(answer(worker, both({5})), AnswerFate::verified) << "the reading that prevailed counts";
  EXPECT_EQ(answer(worker, both({2})), AnswerFate::refuted) << "28";
}

// An auditor that is not a root makes up its second reading.
TEST_F(AnswerWeighings, OfOtherAuditorsChangeNothing) {
  const PublicKey liar = join(trust::Invitation::worker);
  EXPECT_EQ(answer(worker, {{.auditor = liar, .ratios = {1000}}}), AnswerFate::verified);
  EXPECT_EQ(answer(worker, {{.auditor = liar, .ratios = {10}}}), AnswerFate::verified);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(answer(worker, both(some)), AnswerFate::verified);

  // Nor can it confirm what a root has found.
  EXPECT_EQ(
      answer(worker, {{.auditor = one, .ratios = some}, {.auditor = liar, .ratios = {-1000}}}),
      AnswerFate::refuted);
  EXPECT_TRUE(network.barred.empty());
}

TEST_F(AnswerWeighings, AreNotOutvotedByARootThatDidNotWeigh) {
  EXPECT_EQ(answer(worker, {{.auditor = one, .ratios = {30}},
                            {.auditor = two},
                            {.auditor = three, .ratios = {30}}}),
            AnswerFate::refuted);
  EXPECT_EQ(network.barred, std::vector{worker});
}

TEST_F(AnswerWeighings, OutliveARestart) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(answer(worker, both(some)), AnswerFate::verified);
  network.restart();
  for (std::size_t i = 0; i < wallets.size(); ++i) {
    network.invitation = i < 3 ? trust::Invitation::verifier : trust::Invitation::worker;
    network.join(*wallets[i]);
  }

  EXPECT_EQ(answer(worker, both(some)), AnswerFate::refuted);
  EXPECT_EQ(network.barred, std::vector{worker});
}

TEST_F(AnswerWeighings, BeginAnewAfterAConviction) {
  EXPECT_EQ(answer(worker, both({30})), AnswerFate::refuted);
  EXPECT_EQ(answer(worker, both({5})), AnswerFate::verified);
}

// A member of a chain cannot bring another member's own answers near the bound.
TEST_F(AnswerWeighings, OfChainsRefuteThemAndConvictNoMemberThatAnswersAlone) {
  const PublicKey member = join(trust::Invitation::worker);
  const std::vector chain{worker, member};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(answer(chain, both(some)), AnswerFate::verified);

  EXPECT_EQ(answer(chain, both(some)), AnswerFate::nothing) << "its guilty stage is searched for";
  ASSERT_EQ(network.searches.size(), 1U);
  network.post(
      [this](jobs::Core& core, jobs::Moment now) { core.completions().traced({.id = id}, now); });
  network.run();

  EXPECT_EQ(network.fates.at(id), AnswerFate::refuted);
  EXPECT_TRUE(network.barred.empty());
  EXPECT_EQ(answer(worker, both({27})), AnswerFate::verified) << "the sum of its own answers is 0";
  EXPECT_EQ(answer(chain, both({27})), AnswerFate::verified) << "the chain begins with 0 again";
}

}  // namespace
}  // namespace weft::coordinator
