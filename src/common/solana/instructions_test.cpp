// Checks the bytes of instructions of the runtime's programs and of signed digests.
// tests/e2e/settle.test.mjs checks that the runtime accepts them.
#include "common/solana/instructions.h"

#include <gtest/gtest.h>

#include "common/solana/address.h"
#include "common/solana/digests.h"

namespace weft::solana {
namespace {

PublicKey bytes_of(std::uint8_t byte) {
  PublicKey out;
  out.bytes.fill(byte);
  return out;
}

TEST(Instructions, a_signature_check_names_only_bytes_of_its_own) {
  const SignedDigest one{.key = bytes_of(1), .signature = {}, .digest = {}};
  const SignedDigest both[] = {one, one};

  const Instruction single = check_signatures({&one, 1});
  const Instruction two = check_signatures(both);

  EXPECT_EQ(single.data.size(), 144U);
  EXPECT_EQ(to_hex(ByteSpan(single.data).first(16)), "01003000ffff1000ffff70002000ffff");
  EXPECT_EQ(two.data.size(), 2U + 2 * (14 + 128));
  // The offsets of the second signature: signature at 30 + 128 + 32, key at 30 + 128, message at 30
  // + 128 + 96.
  EXPECT_EQ(to_hex(ByteSpan(two.data).subspan(16, 14)), "be00ffff9e00fffffe002000ffff");
}

TEST(Instructions, a_seeded_account_lies_at_its_address) {
  const Instruction made = create_seeded_account(
      {.payer = bytes_of(1), .address = {}, .lamports = 5, .bytes = 165, .owner = token_program()},
      bytes_of(2), "vault");
  EXPECT_EQ(made.accounts[1].key, seeded_address(bytes_of(2), "vault", token_program()));
  EXPECT_FALSE(made.accounts[1].signer);
  EXPECT_TRUE(made.accounts[2].signer);
  EXPECT_EQ(made.data.size(), 4U + 32 + 8 + 5 + 8 + 8 + 32);
}

TEST(Digests, no_part_of_the_place_or_the_message_can_be_another) {
  const SigningPlace place{.genesis = {}, .program = bytes_of(2), .config = bytes_of(3)};
  const Hash voucher = voucher_digest(place, bytes_of(4), 5);
  SigningPlace other = place;
  other.genesis.bytes[0] = 1;
  EXPECT_NE(voucher_digest(other, bytes_of(4), 5), voucher);
  other = place;
  other.program = bytes_of(9);
  EXPECT_NE(voucher_digest(other, bytes_of(4), 5), voucher);
  other = place;
  other.config = bytes_of(9);
  EXPECT_NE(voucher_digest(other, bytes_of(4), 5), voucher);
  EXPECT_NE(voucher_digest(place, bytes_of(5), 5), voucher);
  EXPECT_NE(voucher_digest(place, bytes_of(4), 6), voucher);
  EXPECT_NE(statement_digest(place, {bytes_of(4), 1, 2, 3}),
            statement_digest(place, {bytes_of(4), 1, 3, 2}));
  ReceiptParts one, two;
  one.session = voucher;
  two.worker = voucher;
  EXPECT_NE(receipt_digest(place, one), receipt_digest(place, two));
}

// The digest was computed with node's crypto. proof/claim_tree_test.cpp uses this root of three
// claims too.
TEST(Digests, a_receipt_has_the_bytes_that_the_program_hashes) {
  SigningPlace place{.genesis = {}, .program = bytes_of(2), .config = bytes_of(9)};
  place.genesis.bytes.fill(1);
  ReceiptParts parts;
  parts.coordinator = bytes_of(3);
  parts.session.bytes.fill(4);
  parts.worker.bytes.fill(5);
  parts.root =
      Hash::parse("52d91d1682785956df0e99d07bb4785f9a0a2dee8c3572ee267c4c0f6e642a31").value();

  EXPECT_EQ(to_hex(receipt_digest(place, parts).span()),
            "7bd85af71eb59d5b7467022f400cbd6020f2c1da00410fac2e282d5abf366aa2");
}

}  // namespace
}  // namespace weft::solana
