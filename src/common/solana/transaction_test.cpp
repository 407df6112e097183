// Bytes of transactions: each transaction has one form, and all other forms are refused.
// chain/tests/client.test.mjs compares the bytes with those of another library.
#include "common/solana/transaction.h"

#include <gtest/gtest.h>

#include "common/solana/address.h"

namespace weft::solana {
namespace {

PublicKey numbered(std::uint8_t i) {
  PublicKey key;
  key.bytes.fill(i);
  return key;
}
Transaction sample(MessageVersion version) {
  const std::vector<Instruction> instructions = {
      {.program = numbered(9),
       .accounts = {{numbered(2), true, false},
                    {numbered(3), false, true},
                    {numbered(4), false, false}},
       .data = {1, 2, 3}},
      {.program = numbered(8), .accounts = {}, .data = {}}};
  const std::vector<LookupTable> tables = {{numbered(7), {numbered(6), numbered(3)}}};
  MessagePlan plan{
      .payer = numbered(1), .instructions = instructions, .blockhash = {}, .version = version};
  if (version == MessageVersion::v0) plan.tables = tables;
  Transaction out{.signatures = {Signature{}, Signature{}}, .message = compile(plan).value()};
  return out;
}

TEST(SolanaTransaction, CompactLengthsHaveOneForm) {
  for (const auto& [value, hex] :
       std::vector<std::pair<std::uint16_t, std::string>>{{0, "00"},
                                                          {127, "7f"},
                                                          {128, "8001"},
                                                          {16383, "ff7f"},
                                                          {16384, "808001"},
                                                          {65535, "ffff03"}}) {
    ByteVector out;
    append_compact_u16(out, value);
    EXPECT_EQ(to_hex(out), hex);
    ByteSpan rest = out;
    EXPECT_EQ(read_compact_u16(rest).value(), value);
    EXPECT_TRUE(rest.empty());
  }
  for (const std::string hex : {"", "80", "8000", "808000", "ffff04", "ffffff", "80808001"}) {
    const ByteVector bytes = from_hex(hex).value();
    ByteSpan rest = bytes;
    EXPECT_FALSE(read_compact_u16(rest).has_value()) << hex;
  }
}

TEST(SolanaTransaction, KeysStandByWhatTheyMayDo) {
  const Message message = sample(MessageVersion::legacy).message;

  EXPECT_EQ(message.signers, 2);
  EXPECT_EQ(message.read_only_signers, 1);
  EXPECT_EQ(message.read_only_others, 3);
  ASSERT_EQ(message.keys.size(), 6U);
  EXPECT_EQ(message.keys[0], numbered(1));
  EXPECT_EQ(message.keys[1], numbered(2));
  EXPECT_EQ(message.keys[2], numbered(3));
}

TEST(SolanaTransaction, ATableTakesWhatNeitherSignsNorRuns) {
  const Message message = sample(MessageVersion::v0).message;

  ASSERT_EQ(message.tables.size(), 1U);
  EXPECT_EQ(message.tables[0].table, numbered(7));
  EXPECT_EQ(message.tables[0].writable, (std::vector<std::uint8_t>{1}));
  EXPECT_TRUE(message.tables[0].read_only.empty());
  EXPECT_EQ(message.keys.size(), 5U);
  // The keys of tables come after those of the message.
  EXPECT_EQ(message.instructions[0].accounts[1], 5);
}

TEST(SolanaTransaction, DecodingIsTheReverse) {
  for (const auto version : {MessageVersion::legacy, MessageVersion::v0}) {
    const Transaction transaction = sample(version);
    const ByteVector bytes = encode(transaction);
    const auto decoded = decode_transaction(bytes);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    EXPECT_EQ(decoded->message, transaction.message);
    EXPECT_EQ(encode(*decoded), bytes);
  }
}

TEST(SolanaTransaction, CutAndContinuedBytesAreRefused) {
  ByteVector bytes = encode(sample(MessageVersion::v0));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_transaction(ByteSpan(bytes).first(size)).has_value()) << size;
  bytes.push_back(0);
  EXPECT_FALSE(decode_transaction(bytes).has_value());
}

TEST(SolanaTransaction, IndicesOutsideTheKeysAreRefused) {
  Message message = sample(MessageVersion::legacy).message;
  message.instructions[0].accounts[0] = 6;
  EXPECT_FALSE(decode_message(encode(message)).has_value());
  message.instructions[0].accounts[0] = 1;
  message.instructions[0].program = 0;
  EXPECT_FALSE(decode_message(encode(message)).has_value()) << "the payer is not a program";
}

TEST(SolanaTransaction, AProgramIsNeitherPaidWithNorWritten) {
  const std::vector<Instruction> paying = {{.program = numbered(1)}};
  const std::vector<Instruction> written = {
      {.program = numbered(5), .accounts = {{numbered(5), false, true}}}};

  EXPECT_FALSE(
      compile({.payer = numbered(1), .instructions = paying, .blockhash = {}}).has_value());
  EXPECT_FALSE(
      compile({.payer = numbered(1), .instructions = written, .blockhash = {}}).has_value());
}

}  // namespace
}  // namespace weft::solana
