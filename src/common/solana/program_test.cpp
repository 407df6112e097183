// Calls of the on-chain program by the names of chain/layout.mjs.
#include "common/solana/program.h"

#include <gtest/gtest.h>

#include "common/solana/address.h"

namespace weft::solana {
namespace {

PublicKey filled(std::uint8_t value) {
  PublicKey key;
  key.bytes.fill(value);
  return key;
}

TEST(SolanaProgram, ACallHasItsAccountsInTheLayoutsOrder) {
  auto call = ProgramCall::named("deposit").value();
  call.key("owner", filled(1))
      .key("config", filled(2))
      .key("escrow", filled(3))
      .key("from", filled(4));
  call.key("vault", filled(5)).number("amount", 0x0102);

  const Instruction built = call.build(filled(9)).value();

  ASSERT_EQ(built.accounts.size(), 7U);
  EXPECT_TRUE(built.accounts[0].signer && built.accounts[0].writable);
  EXPECT_EQ(built.accounts[5].key, token_program());
  EXPECT_FALSE(built.accounts[5].writable);
  EXPECT_EQ(to_hex(built.data), "010201000000000000");
}

TEST(SolanaProgram, AMissingAccountIsNamed) {
  const auto built = ProgramCall::named("freeze")->key("config", filled(2)).build(filled(9));

  ASSERT_FALSE(built.has_value());
  EXPECT_NE(built.error().message.find("guardian"), std::string::npos);
}

TEST(SolanaProgram, OtherBytesAreNoState) {
  EXPECT_FALSE(ProgramState::read("stake", ByteVector(10)).has_value());
  EXPECT_FALSE(ProgramState::read("stake", ByteVector(128, 9)).has_value());
  EXPECT_FALSE(ProgramState::read("stake", {}).has_value());
}

TEST(SolanaProgram, FieldsAreReadWhereTheLayoutHasThem) {
  for (const StateLayout& layout : state_layouts()) {
    ByteVector bytes(layout.bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
    bytes[0] = layout.kind;
    const auto state = ProgramState::read(layout.name, bytes).value();
    for (const Field& field : layout.fields) {
      ASSERT_LE(field.at + field.count * width_of(field.type), bytes.size()) << field.name;
      if (field.type == FieldType::u64) {
        std::uint64_t value = 0;
        for (std::size_t i = 8; i-- > 0;) value = value << 8 | bytes[field.at + i];
        EXPECT_EQ(state.number(field.name), value) << layout.name << "." << field.name;
      }
    }
  }
}

TEST(SolanaProgram, EveryRefusalHasItsSentence) {
  EXPECT_EQ(refusal_text(17), "error 17");
  for (const CheckText& one : check_texts())
    EXPECT_NE(refusal_text(one.number).find(one.attack), std::string::npos);
}

}  // namespace
}  // namespace weft::solana
