#include "decisions/jobs/signed_claims.h"

#include <gtest/gtest.h>

namespace weft::jobs {
namespace {

PublicKey device_of(std::uint32_t number) {
  PublicKey key;
  for (int i = 0; i < 4; ++i)
    key.bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number >> (8 * i));
  return key;
}
SignedClaims::Attempt attempt_of(std::uint32_t index) { return {{.job = {}, .index = index}, 1}; }
Hash root_of(std::uint8_t byte) {
  Hash root;
  root.bytes.fill(byte);
  return root;
}
const auto receipt = std::make_shared<const SignedReceipt>();

TEST(SignedClaims, RemembersTheFirstOfEachAttemptAndDevice) {
  SignedClaims claims;
  EXPECT_FALSE(claims.find(device_of(1), attempt_of(1)));
  claims.add(device_of(1), attempt_of(1), {.root = root_of(1), .receipt = receipt});
  claims.add(device_of(2), attempt_of(1), {.root = root_of(2), .receipt = receipt});

  EXPECT_EQ(claims.find(device_of(1), attempt_of(1))->root, root_of(1));
  EXPECT_EQ(claims.find(device_of(2), attempt_of(1))->root, root_of(2));
  EXPECT_FALSE(claims.find(device_of(1), attempt_of(2)));
}

TEST(SignedClaims, ADeviceThatSignsMuchForgetsItsOwnOldest) {
  SignedClaims claims;
  claims.add(device_of(1), attempt_of(0), {.root = root_of(1), .receipt = receipt});
  for (std::uint32_t i = 0; i < 2 * SignedClaims::claims_of_device_max; ++i)
    claims.add(device_of(2), attempt_of(i), {.root = root_of(1), .receipt = receipt});

  EXPECT_EQ(claims.size(), SignedClaims::claims_of_device_max + 1);
  EXPECT_TRUE(claims.find(device_of(1), attempt_of(0)));
  EXPECT_FALSE(claims.find(device_of(2), attempt_of(0)));
  EXPECT_FALSE(claims.find(device_of(2), attempt_of(SignedClaims::claims_of_device_max - 1)));
  EXPECT_TRUE(claims.find(device_of(2), attempt_of(SignedClaims::claims_of_device_max)));
}

TEST(SignedClaims, ManyDevicesTogetherHaveABoundAndTheIdleOnesGoFirst) {
  SignedClaims claims;
  constexpr std::uint32_t devices = 70'000;
  for (std::uint32_t i = 0; i < devices; ++i) {
    claims.add(device_of(i), attempt_of(0), {.root = root_of(1), .receipt = receipt});
    if (i % 1000 == 0) {
      const SignedClaims::Attempt attempt = attempt_of(i + 1);
      claims.add(device_of(0), attempt, {.root = root_of(2), .receipt = receipt});
    }
  }
  EXPECT_EQ(claims.size(), SignedClaims::claims_max);
  // Device 0 is kept because it has signed lately.
  EXPECT_TRUE(claims.find(device_of(0), attempt_of(0)));
  EXPECT_FALSE(claims.find(device_of(1), attempt_of(0)));
  EXPECT_TRUE(claims.find(device_of(devices - 1), attempt_of(0)));
}

}  // namespace
}  // namespace weft::jobs
