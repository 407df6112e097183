// Comparisons of an auditor's fingerprints with the claimed ones.
#include <gtest/gtest.h>

#include <cmath>

#include "common/proof/fingerprint.h"
#include "decisions/billing/answers.h"

namespace weft::billing {
namespace {

inference::Prints prints_of(std::uint32_t tokens, float seed = 1) {
  inference::Prints out;
  std::vector<float> hidden(64);
  const auto put = [&](std::uint32_t at) {
    for (std::size_t i = 0; i < hidden.size(); ++i)
      hidden[i] = seed * std::sin(static_cast<float>(i * 7 + at) + seed);
    out[at] = proof::fingerprint(hidden).value();
  };
  for (std::uint32_t at = 0; at < tokens; at += 32) put(at);
  put(tokens);
  return out;
}

TEST(AnswerPrints, AgreeWithinTheToleranceAndNotBeyondIt) {
  const inference::Prints claimed = prints_of(70);
  EXPECT_TRUE(compare_prints(claimed, claimed, 70, true, 64).agrees);
  EXPECT_FALSE(compare_prints(claimed, prints_of(70, 2), 70, true, 64).agrees);
  inference::Prints shorter = claimed;
  shorter.erase(70);
  EXPECT_TRUE(compare_prints(shorter, claimed, 70, false, 64).agrees) << "broken off";
  EXPECT_FALSE(compare_prints(shorter, claimed, 70, true, 64).complete);
  EXPECT_FALSE(compare_prints(claimed, shorter, 70, true, 64).readable) << "the auditor's fault";
  inference::Prints other = claimed;
  other[64] = prints_of(70, 2).at(64);
  EXPECT_FALSE(compare_prints(claimed, other, 70, true, 64).agrees) << "one position is enough";
  other[64] = {1, 2, 3};
  EXPECT_FALSE(compare_prints(claimed, other, 70, true, 64).readable);
}

TEST(AnswerPrints, AnAuditThatDrewFewerTokensThanThereAreHasSaidNothing) {
  const inference::Prints prints = prints_of(70, 1);
  const AuditScope scope{.tokens = 70, .drawn = 70, .complete = true};
  const auto verdict = [&](const inference::AuditEnd& audit) {
    return read_audit(prints, audit, scope, 64).verdict;
  };
  EXPECT_EQ(verdict({.prints = prints, .redrawn = 70}), AnswerVerdict::agrees);
  EXPECT_EQ(verdict({.prints = prints, .redrawn = 0}), AnswerVerdict::unheard);
  EXPECT_EQ(verdict({.prints = prints, .redrawn = 69}), AnswerVerdict::unheard);
  EXPECT_EQ(verdict({.prints = prints, .redrawn = 70, .doubtful = {9}}), AnswerVerdict::differs);
  EXPECT_EQ(verdict({.prints = prints_of(70, 2), .redrawn = 70}), AnswerVerdict::differs);

  const inference::AuditEnd audit{.prints = prints, .redrawn = 70, .doubtful = {9, 12}};
  EXPECT_EQ(read_audit(prints, audit, scope, 64).doubtful, 2U);
}

TEST(AnswerPrints, AVectorHasOneFingerprintAndNoTokensToDrawAgain) {
  inference::Prints prints = prints_of(1, 1);
  prints.erase(1);
  const AuditScope scope{.tokens = 1};
  EXPECT_EQ(read_audit(prints, {.prints = prints}, scope, 64).verdict, AnswerVerdict::agrees);
  inference::Prints other = prints_of(1, 2);
  other.erase(1);
  EXPECT_EQ(read_audit(prints, {.prints = other}, scope, 64).verdict, AnswerVerdict::differs);
}

}  // namespace
}  // namespace weft::billing
