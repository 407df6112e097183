// Tests the sentence by which a client reads how its results were decided.
#include "decisions/jobs/verdict_text.h"

#include <gtest/gtest.h>

namespace weft::jobs {
namespace {

store::BasisCounts counts(std::initializer_list<std::pair<store::Basis, std::uint32_t>> given) {
  store::BasisCounts out{};
  for (const auto& [basis, count] : given) out[static_cast<std::size_t>(basis)] = count;
  return out;
}

TEST(VerdictText, OneKindOfWordIsSaidForAllResults) {
  using store::Basis;
  EXPECT_EQ(how_decided(counts({})), "");
  EXPECT_EQ(how_decided(counts({{Basis::invited, 64}})),
            "All 64 results have the word of a worker that the operator invited.");
  EXPECT_EQ(how_decided(counts({{Basis::mathematics, 1}})),
            "The result was checked by the coordinator's mathematics.");
  EXPECT_EQ(how_decided(Basis::mathematics),
            "The result was checked by the coordinator's mathematics.");
}

TEST(VerdictText, SeveralAreSaidInTheOrderOfTheirWeight) {
  using store::Basis;
  EXPECT_EQ(
      how_decided(counts({{Basis::corrected, 1}, {Basis::verifier, 60}, {Basis::root, 3}})),
      "Of 64 results, 3 have the word of a worker that the operator invited as a verifier; 60 "
      "were computed again in part by the coordinator's verifier, which agrees; 1 was wrong, "
      "and the coordinator's verifier computed it again.");
}

}  // namespace
}  // namespace weft::jobs
