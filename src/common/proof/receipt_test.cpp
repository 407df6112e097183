// The bytes that a receipt signs are fixed (receipt.h): the tests lay them out by hand, and a
// change of any field changes them.
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
std::string repeat(std::string_view hex, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += hex;
  return text;
}
ByteVector bytes_of(const std::string& hex) { return from_hex(hex).value(); }

const ReceiptPlace place{.genesis = filled<Hash>(0x11),
                         .program = filled<PublicKey>(0x22),
                         .coordinator = filled<PublicKey>(0x33),
                         .session = filled<Hash>(0x44),
                         .worker = filled<Hash>(0x55)};
const Claim claim{.task = {.job = filled<JobId>(0x66), .index = 0x01020304},
                  .attempt = 7,
                  .root = filled<Hash>(0x77)};
const Claim part{
    .task = claim.task, .attempt = 7, .root = filled<Hash>(0x77), .first = 0x0a0b, .count = 2};

TEST(Receipt, SignsTheStatedBytes) {
  // The root of a single claim is its leaf.
  const Hash whole = crypto::sha256(bytes_of("776566742d636c61696d2d32" + repeat("66", 16) +
                                             "04030201" + "07000000" + repeat("77", 32)));
  const Hash leaf = crypto::sha256(bytes_of("00" + to_hex(whole.bytes)));
  const ByteVector statement = receipt_statement(place, std::vector{claim});
  EXPECT_EQ(statement,
            bytes_of("776566742d726563656970742d32" + repeat("11", 32) + repeat("22", 32) +
                     repeat("33", 32) + repeat("44", 32) + repeat("55", 32) + to_hex(leaf.bytes)));
  EXPECT_EQ(statement.size(), 206U);
  EXPECT_EQ(receipt_digest(place, std::vector{claim}), crypto::sha256(statement));
}

TEST(Receipt, SignsAPartByAnotherWordWithItsRange) {
  const Hash hash =
      crypto::sha256(bytes_of("776566742d706172742d32" + repeat("66", 16) + "04030201" +
                              "07000000" + "0b0a0000" + "02000000" + repeat("77", 32)));
  const Hash leaf = crypto::sha256(bytes_of("00" + to_hex(hash.bytes)));
  const ByteVector statement = receipt_statement(place, std::vector{part});
  EXPECT_TRUE(std::ranges::equal(ByteSpan(statement).last(32), leaf.bytes));
}

TEST(Receipt, ChangesWithEveryField) {
  std::vector<Hash> digests = {receipt_digest(place, std::vector{claim}), receipt_digest(place, {}),
                               receipt_digest(place, std::vector{claim, claim}),
                               receipt_digest(place, std::vector{claim, part}),
                               receipt_digest(place, std::vector{part, claim})};
  const auto other_place = [&](auto change) {
    ReceiptPlace other = place;
    change(other);
    digests.push_back(receipt_digest(other, std::vector{claim}));
  };
  other_place([](ReceiptPlace& other) { other.genesis = filled<Hash>(9); });
  other_place([](ReceiptPlace& other) { other.program = filled<PublicKey>(9); });
  other_place([](ReceiptPlace& other) { other.coordinator = filled<PublicKey>(9); });
  other_place([](ReceiptPlace& other) { other.session = filled<Hash>(9); });
  other_place([](ReceiptPlace& other) { other.worker = filled<Hash>(9); });
  const auto other_claim = [&](Claim other, auto change) {
    change(other);
    digests.push_back(receipt_digest(place, std::vector{other}));
  };
  for (const Claim& each : {claim, part}) {
    other_claim(each, [](Claim& other) { other.task.job = filled<JobId>(9); });
    other_claim(each, [](Claim& other) { other.task.index = 9; });
    other_claim(each, [](Claim& other) { other.attempt = 9; });
    other_claim(each, [](Claim& other) { other.root = filled<Hash>(9); });
  }
  other_claim(part, [](Claim&) {});
  other_claim(part, [](Claim& other) { other.first = 9; });
  other_claim(part, [](Claim& other) { other.count = 9; });

  std::ranges::sort(digests);
  EXPECT_EQ(std::ranges::adjacent_find(digests), digests.end());
}

TEST(Receipt, IsReadBackAndNothingElseIs) {
  const std::vector<Claim> claims = {claim, part, claim};
  const ByteVector statement = receipt_statement(place, claims);
  const ByteVector text = claims_text(claims);
  const auto read = read_receipt(statement, text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->place, place);
  EXPECT_EQ(read->claims, claims);

  EXPECT_FALSE(read_receipt(statement, claims_text(std::vector{claim, part})));
  EXPECT_FALSE(read_receipt(ByteSpan(statement).first(205), text));
  EXPECT_FALSE(read_receipt({}, {}));
  for (std::size_t at = 0; at < text.size(); ++at) {
    ByteVector changed = text;
    changed[at] ^= 1;
    EXPECT_FALSE(read_receipt(statement, changed)) << at;
    EXPECT_FALSE(read_receipt(statement, ByteSpan(text).first(at)));
  }
}

}  // namespace
}  // namespace weft::proof
