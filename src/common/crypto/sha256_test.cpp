// Tests of both implementations of SHA-256: they give the results of FIPS 180-4, however the bytes
// are cut, and agree with each other.
#include "common/crypto/sha256.h"

#include <gtest/gtest.h>

#include <random>

#include "common/crypto/repeated_sha256.h"
#include "common/crypto/sha256_portable.h"

namespace weft::crypto {
namespace {

struct Row {
  std::string text;
  const char* hash;
};

const std::vector<Row>& vectors() {
  // NIST's example values for FIPS 180-4, and the message of a million a's.
  static const std::vector<Row> rows = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmn"
       "opqrsmnopqrstnopqrstu",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
      {std::string(1'000'000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};
  return rows;
}

Hash portable(ByteSpan bytes) {
  Sha256Portable digest;
  digest.update(bytes);
  return digest.finish();
}

TEST(Sha256, GivesThePublishedAnswers) {
  for (const auto& [text, hash] : vectors()) EXPECT_EQ(sha256(as_bytes(text)).text(), hash);
}

TEST(Sha256Portable, GivesThePublishedAnswers) {
  for (const auto& [text, hash] : vectors()) EXPECT_EQ(portable(as_bytes(text)).text(), hash);
}

TEST(Sha256Portable, AgreesWithTheLibraryAtEveryLengthAroundABlock) {
  ByteVector bytes;
  for (std::size_t size = 0; size <= 200; ++size) {
    EXPECT_EQ(portable(bytes), sha256(bytes)) << size;
    bytes.push_back(static_cast<std::uint8_t>(37 * size + 11));
  }
}

TEST(Sha256, IsTheSameHoweverTheBytesAreCut) {
  std::mt19937 random(7);
  ByteVector bytes(5000);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
  const Hash whole = sha256(bytes);

  for (int round = 0; round < 50; ++round) {
    Sha256 library;
    Sha256Portable ours;
    for (ByteSpan left = bytes; !left.empty();) {
      const std::size_t size = std::min<std::size_t>(left.size(), random() % 150);
      library.update(left.first(size));
      ours.update(left.first(size));
      left = left.subspan(size);
    }
    EXPECT_EQ(library.finish(), whole);
    EXPECT_EQ(ours.finish(), whole);
  }
}

TEST(RepeatedSha256, GivesTheSameHashesOneAfterTheOther) {
  RepeatedSha256 repeated;
  for (std::size_t size = 0; size < 200; ++size) {
    const ByteVector bytes(size, static_cast<std::uint8_t>(size));
    EXPECT_EQ(repeated(bytes), sha256(bytes)) << size;
  }
}

}  // namespace
}  // namespace weft::crypto
