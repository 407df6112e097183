// The bytes a receipt signs are fixed (receipt.h): laid out by hand here, and every field counts.
#include "common/proof/receipt.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/crypto/sha256.h"

namespace weft::proof {
namespace {

template <class Id>
Id filled(std::uint8_t byte) {
  Id id;
  id.bytes.fill(byte);
  return id;
}

TEST(ReceiptDigest, IsTheHashOfTheStatedBytes) {
  const std::vector<Claim> claims = {{.task = {.job = filled<JobId>(0x33), .index = 0x01020304},
                                      .attempt = 7,
                                      .root = filled<Hash>(0x44)}};

  const Hash digest = receipt_digest(filled<PublicKey>(0x11), filled<Hash>(0x22), claims);

  const auto repeat = [](std::string_view hex, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += hex;
    return text;
  };
  const std::string message = "776566742d726563656970742d31" + repeat("11", 32) + repeat("22", 32) +
                              "01000000" + repeat("33", 16) + "04030201" + "07000000" +
                              repeat("44", 32);
  EXPECT_EQ(digest, crypto::sha256(from_hex(message).value()));
}

TEST(ReceiptDigest, ChangesWithEveryField) {
  const PublicKey key = filled<PublicKey>(1);
  const Hash nonce = filled<Hash>(2);
  const Claim claim{
      .task = {.job = filled<JobId>(3), .index = 4}, .attempt = 5, .root = filled<Hash>(6)};
  std::vector<Hash> digests = {receipt_digest(key, nonce, std::vector{claim}),
                               receipt_digest(filled<PublicKey>(9), nonce, std::vector{claim}),
                               receipt_digest(key, filled<Hash>(9), std::vector{claim}),
                               receipt_digest(key, nonce, {}),
                               receipt_digest(key, nonce, std::vector{claim, claim})};
  Claim other = claim;
  other.task.job = filled<JobId>(9);
  digests.push_back(receipt_digest(key, nonce, std::vector{other}));
  other = claim;
  other.task.index = 9;
  digests.push_back(receipt_digest(key, nonce, std::vector{other}));
  other = claim;
  other.attempt = 9;
  digests.push_back(receipt_digest(key, nonce, std::vector{other}));
  other = claim;
  other.root = filled<Hash>(9);
  digests.push_back(receipt_digest(key, nonce, std::vector{other}));

  std::ranges::sort(digests);
  EXPECT_EQ(std::ranges::adjacent_find(digests), digests.end());
}

}  // namespace
}  // namespace weft::proof
