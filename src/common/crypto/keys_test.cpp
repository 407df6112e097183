// Ed25519 gives the results of RFC 8032, and a signature is valid for one key and one message only.
#include "common/crypto/keys.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::crypto {
namespace {

struct Row {
  const char* seed;
  const char* public_key;
  const char* message;
  const char* signature;
};

// RFC 8032, section 7.1, tests 1 to 3.
const Row rows[] = {{"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33"
                     "bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
                    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e159"
                     "96e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
                    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
                     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f"
                     "290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"}};

TEST(KeyPair, GivesTheAnswersOfRfc8032) {
  for (const Row& row : rows) {
    const KeyPair pair = KeyPair::from_seed(from_hex(row.seed).value()).value();
    const ByteVector message = from_hex(row.message).value();

    const Signature signature = pair.sign_now(message);

    EXPECT_EQ(to_hex(pair.public_key().span()), row.public_key);
    EXPECT_EQ(to_hex(signature.span()), row.signature);
    EXPECT_EQ(to_hex(pair.seed()), row.seed);
    EXPECT_TRUE(verify_now(pair.public_key(), message, signature));
  }
}

TEST(KeyPair, SignatureFitsOneKeyAndOneMessageOnly) {
  const KeyPair pair = KeyPair::generate().value();
  const KeyPair other = KeyPair::generate().value();
  const ByteVector message = {1, 2, 3};
  const Signature signature = pair.sign_now(message);

  EXPECT_FALSE(verify_now(other.public_key(), message, signature));
  EXPECT_FALSE(verify_now(pair.public_key(), ByteVector{1, 2, 4}, signature));
  EXPECT_FALSE(verify_now(pair.public_key(), ByteVector{}, signature));
  for (std::size_t i = 0; i < Signature::size; ++i) {
    Signature wrong = signature;
    wrong.bytes[i] ^= 1;
    EXPECT_FALSE(verify_now(pair.public_key(), message, wrong)) << i;
  }
}

TEST(KeyPair, RefusesASeedOfAnotherSizeAndAKeyThatIsNoPoint) {
  EXPECT_FALSE(KeyPair::from_seed(ByteVector(31)).has_value());
  EXPECT_FALSE(KeyPair::from_seed(ByteVector(64)).has_value());
  PublicKey no_point;
  no_point.bytes.fill(0xff);
  EXPECT_FALSE(verify_now(no_point, ByteVector{1}, Signature{}));
}

TEST(Signer, SignsAndChecksThroughCoroutinesToo) {
  KeyPair pair = KeyPair::generate().value();
  std::optional<Signature> signature;
  std::optional<bool> valid;

  start<Result<Signature>>(pair.sign({9}),
                           [&](Result<Signature> made) { signature = made.value(); });
  start<Result<bool>>(verify(pair.public_key(), {9}, signature.value()),
                      [&](Result<bool> answer) { valid = answer.value(); });

  EXPECT_EQ(signature, pair.sign_now(ByteVector{9}));
  EXPECT_EQ(valid, true);
}

TEST(RandomBytes, AreNotTheSameTwice) {
  Hash a;
  Hash b;
  random_bytes(a.bytes);
  random_bytes(b.bytes);
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace weft::crypto
