// Addresses of programs. The curve test and the bump decide for which account a program signs, so a
// wrong result loses money.
#include "common/solana/address.h"

#include <gtest/gtest.h>

#include "common/crypto/keys.h"
#include "common/solana/field25519.h"

namespace weft::solana {
namespace {

TEST(SolanaAddress, KeysAreOnTheCurve) {
  for (std::uint8_t i = 0; i < 20; ++i) {
    const ByteVector seed(32, i);
    EXPECT_TRUE(is_on_curve(crypto::KeyPair::from_seed(seed)->public_key())) << int{i};
  }
}

TEST(SolanaAddress, FoundAddressesAreOffTheCurve) {
  int small_bumps = 0;
  for (std::uint8_t i = 0; i < 40; ++i) {
    const ByteVector seed(5, i);
    const std::array<ByteSpan, 1> seeds = {ByteSpan(seed)};
    const auto found = find_program_address(seeds, token_program());
    ASSERT_TRUE(found.has_value());
    EXPECT_FALSE(is_on_curve(found->address));
    small_bumps += found->bump < 255 ? 1 : 0;
  }
  EXPECT_GT(small_bumps, 5) << "about half of all hashes are points of the curve";
}

TEST(SolanaAddress, AssociatedAccountsAreThoseOfTheNetwork) {
  // The expected addresses were computed by getProgramDerivedAddress of @solana/kit 8.4.
  const auto wallet = PublicKey::parse("Vote111111111111111111111111111111111111111").value();
  const auto mint = PublicKey::parse("So11111111111111111111111111111111111111112").value();
  EXPECT_EQ(associated_token_account(wallet, mint).text(),
            "DDMpR5WTuhhpMbAHpuPdoQcuUHCFCgTucopoLz69YWck");
}

TEST(SolanaAddress, TooManyOrTooLongSeedsAreRefused) {
  const ByteVector seed(33);
  const std::array<ByteSpan, 1> long_one = {ByteSpan(seed)};
  const std::vector<ByteSpan> many(17, ByteSpan(seed).first(1));

  EXPECT_EQ(program_address(long_one, token_program()).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(program_address(many, token_program()).error().code, ErrorCode::invalid_argument);
}

TEST(SolanaAddress, NumbersOfPAndMoreAreReduced) {
  // p itself is reduced to 0, and 2^255 - 1 to 18.
  std::array<std::uint8_t, 32> p{};
  p.fill(0xff);
  p[0] = 0xed;
  p[31] = 0x7f;
  std::array<std::uint8_t, 32> all{};
  all.fill(0xff);

  EXPECT_EQ(Field25519::from_bytes(p).bytes(), (std::array<std::uint8_t, 32>{}));
  EXPECT_EQ(Field25519::from_bytes(all).bytes(), (std::array<std::uint8_t, 32>{18}));
  const Field25519 minus_one = Field25519::from_bytes(p) - Field25519::one();
  EXPECT_EQ((minus_one * minus_one).bytes(), Field25519::one().bytes());
  EXPECT_TRUE(minus_one.is_square()) << "p is 1 modulo 4";
  std::array<std::uint8_t, 32> two{2};
  EXPECT_FALSE(Field25519::from_bytes(two).is_square()) << "p is 5 modulo 8";
}

}  // namespace
}  // namespace weft::solana
