// Defends the bytes of claims and their tree (claim_tree.h): the numbers were made with node's
// crypto from the layout of chain/program/receipts.h, which reads the same bytes.
#include "common/proof/claim_tree.h"

#include <gtest/gtest.h>

namespace weft::proof {
namespace {

std::vector<Claim> claims_of(std::uint32_t count) {
  std::vector<Claim> claims(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    claims[i].task.job.bytes.fill(static_cast<std::uint8_t>(0x30 + i));
    claims[i].task.index = 7 + i;
    claims[i].attempt = 2;
    claims[i].root.bytes.fill(static_cast<std::uint8_t>(0x40 + i));
  }
  return claims;
}

TEST(ClaimTree, HasTheBytesThatTheOnChainProgramReads) {
  const auto claims = claims_of(3);

  EXPECT_EQ(to_hex(claim_digest(claims[0]).span()),
            "a2524edb452850b9bd4d3b35ed541d544b8e15b95392e5261204e28f7fad377b");
  EXPECT_EQ(to_hex(root_of_claims(claims).span()),
            "52d91d1682785956df0e99d07bb4785f9a0a2dee8c3572ee267c4c0f6e642a31");
}

TEST(ClaimTree, EachClaimsPathLeadsToTheRoot) {
  for (const std::uint32_t count : {1U, 2U, 3U, 5U, 8U, 13U, 255U, 256U}) {
    const auto claims = claims_of(count);
    const Hash root = root_of_claims(claims);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto path = path_of_claim(claims, i).value();
      EXPECT_EQ(root_by_path(claims[i], path), root) << i << " of " << count;
      EXPECT_LE(path.siblings.size(), claim_levels_max);
      EXPECT_EQ(path.sides >> path.siblings.size(), 0U) << "no bit without a sibling";
    }
  }
}

TEST(ClaimTree, AClaimThatWasNotSignedLeadsElsewhere) {
  const auto claims = claims_of(5);
  const Hash root = root_of_claims(claims);
  const auto path = path_of_claim(claims, 3).value();
  std::vector<Claim> others(4, claims[3]);
  others[0].task.job.bytes[0] ^= 1;
  ++others[1].task.index;
  ++others[2].attempt;
  others[3].root.bytes[31] ^= 1;

  for (const Claim& other : others) EXPECT_NE(root_by_path(other, path), root);
  auto turned = path;
  turned.sides ^= 1;
  EXPECT_NE(root_by_path(claims[3], turned), root);
}

TEST(ClaimTree, ClaimsThatCannotBeShownAreNamed) {
  EXPECT_FALSE(path_of_claim(claims_of(3), 3).has_value());
  EXPECT_FALSE(path_of_claim({}, 0).has_value());
  const auto deep = path_of_claim(claims_of(257), 0);
  ASSERT_FALSE(deep.has_value());
  EXPECT_NE(deep.error().message.find("9 levels"), std::string::npos);
}

TEST(ClaimTree, OtherJobsClaimsAreShownAsTheirDigests) {
  auto claims = claims_of(3);
  claims[2].task.job = claims[0].task.job;
  claims[2].first = 4;
  claims[2].count = 2;
  const JobId mine = claims[0].task.job, its = claims[1].task.job;
  ByteVector expected;
  append(expected, as_bytes(std::string_view("weft-claims-3")));
  append_le(expected, std::uint32_t{3});
  expected.push_back(1);
  append_claim(expected, claims[0]);
  expected.push_back(0);
  append(expected, claim_digest(claims[1]).span());
  expected.push_back(1);
  append_claim(expected, claims[2]);

  EXPECT_EQ(claims_shown(claims, mine), expected);
  EXPECT_EQ(claims_shown(std::span(claims).subspan(1, 1), its),
            claims_text(std::span(claims).subspan(1, 1)))
      << "nothing is to be hidden";
}

}  // namespace
}  // namespace weft::proof
