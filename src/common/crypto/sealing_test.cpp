// The primitives of sealed lines: AES-256-GCM (a vector of the GCM specification), HKDF (RFC 5869)
// and ECDH on P-256 (RFC 5903).
#include <gtest/gtest.h>

#include <algorithm>

#include "common/crypto/aes_gcm.h"
#include "common/crypto/exchange_key.h"
#include "common/crypto/hkdf.h"

namespace weft::crypto {
namespace {

template <class Fixed>
Fixed fixed(const std::string& hex) {
  Fixed out;
  const ByteVector bytes = *from_hex(hex);
  std::ranges::copy(bytes, out.bytes.begin());
  return out;
}

TEST(AesGcm, GivesTheVectorOfItsSpecification) {
  const auto key =
      fixed<AesKey>("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
  const auto nonce = fixed<AesNonce>("cafebabefacedbaddecaf888");
  const ByteVector plain = *from_hex(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6"
      "b525b16aedf5aa0de657ba637b39");
  const ByteVector associated = *from_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");

  const ByteVector sealed = aes_gcm_seal(key, nonce, associated, plain);

  EXPECT_EQ(
      to_hex(sealed),
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b10"
      "56828838c5f61e6393ba7a0abcc9f662"
      "76fc6ece0f4e1768cddf8853bb2d551b");
  EXPECT_EQ(aes_gcm_open(key, nonce, associated, sealed), plain);
}

TEST(AesGcm, OpensNothingElse) {
  const AesKey key = fixed<AesKey>(std::string(64, '1'));
  const AesNonce nonce;
  const ByteVector sealed = aes_gcm_seal(key, nonce, as_bytes("about"), as_bytes("text"));

  for (std::size_t i = 0; i < sealed.size(); ++i) {
    ByteVector changed = sealed;
    changed[i] ^= 1;
    EXPECT_FALSE(aes_gcm_open(key, nonce, as_bytes("about"), changed)) << i;
  }
  EXPECT_FALSE(aes_gcm_open(AesKey(), nonce, as_bytes("about"), sealed));
  EXPECT_FALSE(aes_gcm_open(key, fixed<AesNonce>(std::string(24, '0').replace(23, 1, "1")),
                            as_bytes("about"), sealed));
  EXPECT_FALSE(aes_gcm_open(key, nonce, as_bytes("About"), sealed));
  EXPECT_FALSE(aes_gcm_open(key, nonce, as_bytes("about"), ByteSpan(sealed).first(15)));
  EXPECT_FALSE(aes_gcm_open(key, nonce, as_bytes("about"), {}));
}

TEST(AesGcm, SealsNothing) {
  const ByteVector sealed = aes_gcm_seal({}, {}, {}, {});
  EXPECT_EQ(sealed.size(), aes_tag_bytes);
  EXPECT_EQ(aes_gcm_open({}, {}, {}, sealed), ByteVector());
}

TEST(Hkdf, GivesTheVectorsOfRfc5869) {
  EXPECT_EQ(to_hex(hkdf_sha256(ByteVector(22, 0x0b), *from_hex("000102030405060708090a0b0c"),
                               *from_hex("f0f1f2f3f4f5f6f7f8f9"), 42)),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
  EXPECT_EQ(to_hex(hkdf_sha256(ByteVector(22, 0x0b), {}, {}, 42)),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

TEST(ExchangeKey, GivesTheVectorOfRfc5903) {
  const auto point = fixed<ExchangePoint>(
      "04dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c37725811805271a0461cdb8252d61f1c456f"
      "a3e59ab1f45b33accf5f58389e0577b8990bb3");
  const auto theirs = fixed<ExchangePoint>(
      "04d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf6356fbf3ca366cc23e8157854c13"
      "c58d6aac23f046ada30f8353e74f33039872ab");
  const auto key = ExchangeKey::from_parts(
      *from_hex("c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433"), point);
  ASSERT_TRUE(key);

  const auto shared = key->shared_with(theirs);

  ASSERT_TRUE(shared);
  EXPECT_EQ(to_hex(*shared), "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de");
}

TEST(ExchangeKey, BothSidesComputeOneSecret) {
  const ExchangeKey one = ExchangeKey::generate(), other = ExchangeKey::generate();
  EXPECT_NE(one.point(), other.point());
  EXPECT_EQ(*one.shared_with(other.point()), *other.shared_with(one.point()));
}

TEST(ExchangeKey, RefusesWhatIsNoPoint) {
  const ExchangeKey key = ExchangeKey::generate();
  ExchangePoint off = ExchangeKey::generate().point();
  off.bytes[64] ^= 1;
  ExchangePoint form = ExchangeKey::generate().point();
  form.bytes[0] = 5;

  EXPECT_FALSE(key.shared_with(off));
  EXPECT_FALSE(key.shared_with(form));
  EXPECT_FALSE(key.shared_with(ExchangePoint()));
  EXPECT_FALSE(ExchangeKey::from_parts(ByteVector(32, 1), key.point()));
}

}  // namespace
}  // namespace weft::crypto
