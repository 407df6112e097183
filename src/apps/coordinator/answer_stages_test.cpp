// Tests of what the members of a chain lose if roots refute the chain's answer: only the stage that
// is convicted by two roots loses anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/coordinator/test_answers.h"
#include "decisions/billing/answers.h"
#include "decisions/jobs/completions.h"

namespace weft::coordinator {
namespace {

class AnswerStages : public AnswerTest {
 protected:
  // An answer of the chain that each auditor refutes: in its hidden states if `doubtful` is 0,
  // otherwise in this number of tokens.
  billing::AnswerId refuted(const std::vector<PublicKey>& auditors, std::uint32_t doubtful = 0) {
    const billing::AnswerId id = network.new_ids(1).front();
    constexpr std::uint32_t tokens = 40;
    inference::AnswerEnd end{.reason = "eos", .prompt_tokens = 10};
    end.answered.assign(tokens, 5);
    for (const std::uint32_t at : {0U, 32U, tokens}) end.prints[at] = ByteVector{1};
    for (const PublicKey& member : chain) end.work.push_back({.worker = member, .work = tokens});
    network.post([=](jobs::Core& core, jobs::Moment now) {
      core.completions().answered({.id = id, .end = end, .must_audit = true}, now);
    });
    network.run();
    while (!network.audits.empty()) {
      const billing::AnswerAuditOrder order = network.audits.back();
      network.audits.clear();
      billing::AnswerAudited audited{.id = order.id};
      for (const PublicKey& auditor : auditors) {
        if (std::ranges::contains(order.except, auditor) || !audited.auditors.empty()) continue;
        audited.auditors = {auditor};
        audited.verdict = billing::AnswerVerdict::differs;
        audited.doubtful = doubtful;
      }
      network.post(
          [=](jobs::Core& core, jobs::Moment now) { core.completions().audited(audited, now); });
      network.run();
    }
    return id;
  }
  void search_ends(const billing::AnswerId& id,
                   const std::vector<inference::TraceFinding>& findings) {
    network.post([=](jobs::Core& core, jobs::Moment now) {
      core.completions().traced({.id = id, .findings = findings}, now);
    });
    network.run();
  }

  const std::vector<PublicKey> chain{join(trust::Invitation::worker),
                                     join(trust::Invitation::worker),
                                     join(trust::Invitation::worker)};
  const PublicKey one = join(trust::Invitation::verifier), two = join(trust::Invitation::verifier);
};

TEST_F(AnswerStages, TheOneThatTwoRootsFoundIsConvictedAndNoOther) {
  const auto id = refuted({one, two});
  ASSERT_EQ(network.searches.size(), 1U);
  EXPECT_FALSE(network.fates.contains(id)) << "its stakes are at risk until then";
  EXPECT_THAT(network.searches[0].except, testing::IsSupersetOf(chain));
  EXPECT_THAT(network.searches[0].except, testing::Not(testing::Contains(one)));

  search_ends(id, {{.auditor = one, .guilty = chain[1], .why = ""},
                   {.auditor = two, .guilty = chain[1], .why = ""}});

  EXPECT_EQ(network.barred, std::vector{chain[1]});
  EXPECT_EQ(network.fates.at(id), billing::AnswerFate::refuted);
}

TEST_F(AnswerStages, WhatOneRootFoundOrTwoFoundOtherwiseConvictsNone) {
  auto id = refuted({one, two});
  search_ends(id, {{.auditor = one, .guilty = chain[1], .why = ""}});
  EXPECT_EQ(network.fates.at(id), billing::AnswerFate::refuted);
  id = refuted({one, two});
  search_ends(id, {{.auditor = one, .guilty = chain[1], .why = ""},
                   {.auditor = one, .guilty = chain[1], .why = ""}});
  id = refuted({one, two});
  search_ends(id, {{.auditor = one, .guilty = chain[1], .why = ""},
                   {.auditor = two, .guilty = chain[2], .why = ""}});
  id = refuted({one, two});
  search_ends(id, {});
  EXPECT_EQ(network.fates.at(id), billing::AnswerFate::refuted) << "no member is paid for it";
  EXPECT_TRUE(network.barred.empty());
}

TEST_F(AnswerStages, WhatOthersThanRootsFoundConvictsNone) {
  const PublicKey invited = join(trust::Invitation::worker);
  const auto id = refuted({one, two});
  EXPECT_THAT(network.searches[0].except, testing::Contains(invited));
  search_ends(id, {{.auditor = one, .guilty = chain[1], .why = ""},
                   {.auditor = invited, .guilty = chain[1], .why = ""}});
  EXPECT_TRUE(network.barred.empty());
}

TEST_F(AnswerStages, AWorkerThatTookNoPartCannotBeFound) {
  const PublicKey stranger = join(trust::Invitation::none);
  const auto id = refuted({one, two});
  search_ends(id, {{.auditor = one, .guilty = stranger, .why = ""},
                   {.auditor = two, .guilty = stranger, .why = ""}});
  EXPECT_TRUE(network.barred.empty());
  EXPECT_EQ(network.fates.at(id), billing::AnswerFate::refuted);
}

// A single root does not refute an answer, and wrong tokens do not show which stage is guilty.
TEST_F(AnswerStages, NothingIsSearchedWhereNoneCouldBeConvicted) {
  refuted({one});
  EXPECT_TRUE(network.searches.empty());
  refuted({one, two}, 3);
  EXPECT_TRUE(network.searches.empty());
  EXPECT_TRUE(network.barred.empty());
}

TEST_F(AnswerStages, ALateOrSecondReportChangesNothing) {
  const auto id = refuted({one, two});
  search_ends(id, {});
  search_ends(id, {{.auditor = one, .guilty = chain[1], .why = ""},
                   {.auditor = two, .guilty = chain[1], .why = ""}});
  EXPECT_TRUE(network.barred.empty());
}

}  // namespace
}  // namespace weft::coordinator
