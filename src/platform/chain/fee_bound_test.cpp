// A fee that a node states is believed up to the bound that the transaction's bytes give.
#include "platform/chain/fee_bound.h"

#include <gtest/gtest.h>

#include "common/solana/address.h"
#include "common/solana/transaction.h"

namespace weft::chain {
namespace {

PublicKey key_of(std::uint8_t number) {
  PublicKey out;
  out.bytes.fill(number);
  return out;
}
solana::Instruction budget_of(std::uint8_t kind, std::uint64_t value, std::size_t bytes) {
  solana::Instruction out{.program = solana::compute_budget_program(), .data = {kind}};
  for (std::size_t i = 0; i < bytes; ++i)
    out.data.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  return out;
}
solana::Instruction units(std::uint32_t limit) { return budget_of(2, limit, 4); }
solana::Instruction price(std::uint64_t micro_lamports) { return budget_of(3, micro_lamports, 8); }
solana::Instruction call_of(std::uint8_t signer) {
  return {.program = key_of(9), .accounts = {{.key = key_of(signer), .signer = true}}, .data = {2}};
}

SignedTransaction signed_of(const std::vector<solana::Instruction>& instructions) {
  const auto message =
      solana::compile({.payer = key_of(1), .instructions = instructions, .blockhash = {}}).value();
  return {.bytes = solana::encode(solana::Transaction{
              .signatures = std::vector<Signature>(message.signers), .message = message}),
          .signature = {},
          .last_valid_height = 0};
}
Lamports most_of(const std::vector<solana::Instruction>& instructions) {
  return fee_max(signed_of(instructions).bytes).value();
}

TEST(FeeBound, IsTheSignaturesAndTheUnitsAtTheirPrice) {
  EXPECT_EQ(most_of({call_of(1)}), 5000U);
  EXPECT_EQ(most_of({call_of(2)}), 10'000U) << "a second signer";
  EXPECT_EQ(most_of({units(200'000), call_of(1)}), 5000U) << "without a price";
  EXPECT_EQ(most_of({units(200'001), price(1000), call_of(1)}), 5201U) << "rounded up";
  EXPECT_EQ(most_of({price(1'000'000), call_of(1)}), 5000U + units_max) << "without a limit";
  EXPECT_EQ(most_of({units(4'000'000'000), price(1'000'000), call_of(1)}), 5000U + units_max);
  EXPECT_EQ(most_of({{.program = solana::ed25519_program(), .data = {3, 0}}, call_of(1)}), 20'000U);
  EXPECT_EQ(most_of({{.program = key_of(8), .data = {3, 255, 255, 255, 255, 255, 255, 255, 255}}}),
            5000U)
      << "another program's bytes are no price";
}

TEST(FeeBound, OfAPriceBeyondAllLamportsIsNoSmallNumber) {
  EXPECT_EQ(most_of({price(UINT64_MAX), call_of(1)}), UINT64_MAX);
}

TEST(FeeBound, ANodesWordForMoreIsNotTaken) {
  const SignedTransaction transaction = signed_of({units(100'000), price(10'000), call_of(1)});

  EXPECT_EQ(possible_fee(transaction, 6000).value(), 6000U);
  EXPECT_EQ(possible_fee(transaction, 5000).value(), 5000U) << "a cluster may ask less";
  for (const Lamports said : {Lamports{6001}, Lamports{1'000'000'000'000'000'000}}) {
    const auto taken = possible_fee(transaction, said);
    ASSERT_FALSE(taken) << said;
    EXPECT_EQ(taken.error().code, ErrorCode::data_loss);
  }
}

TEST(FeeBound, WhatIsNoTransactionHasNone) {
  EXPECT_FALSE(fee_max(ByteVector{1, 2, 3}));
  EXPECT_FALSE(possible_fee({.bytes = {}, .signature = {}, .last_valid_height = 0}, 0));
}

}  // namespace
}  // namespace weft::chain
