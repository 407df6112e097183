#include "common/solana/address.h"

#include <array>

#include "common/base/check.h"
#include "common/crypto/sha256.h"
#include "common/solana/field25519.h"

namespace weft::solana {
namespace {

PublicKey well_known(std::string_view text) {
  auto key = PublicKey::parse(text);
  check(key.has_value(), "an address of the runtime is a key");
  return *key;
}

}  // namespace

bool is_on_curve(const PublicKey& key) {
  // x^2 = (y^2 - 1) / (d y^2 + 1) is a square exactly if the product of numerator and denominator
  // is a square or zero.
  const Field25519 y = Field25519::from_bytes(key.bytes);
  const Field25519 y2 = y * y;
  const Field25519 one = Field25519::one();
  return ((y2 - one) * (Field25519::edwards_d() * y2 + one)).is_square();
}

Result<std::optional<PublicKey>> program_address(std::span<const ByteSpan> seeds,
                                                 const PublicKey& program) {
  if (seeds.size() > seeds_max)
    return fail(ErrorCode::invalid_argument, "An address has {} seeds; at most {} are allowed.",
                seeds.size(), seeds_max);
  crypto::Sha256 hash;
  for (const ByteSpan seed : seeds) {
    if (seed.size() > seed_bytes_max)
      return fail(ErrorCode::invalid_argument, "A seed has {} bytes; at most {} are allowed.",
                  seed.size(), seed_bytes_max);
    hash.update(seed);
  }
  PublicKey address;
  address.bytes =
      hash.update(program.bytes).update(as_bytes("ProgramDerivedAddress")).finish().bytes;
  if (is_on_curve(address)) return std::nullopt;
  return address;
}

Result<FoundAddress> find_program_address(std::span<const ByteSpan> seeds,
                                          const PublicKey& program) {
  std::vector<ByteSpan> with_bump(seeds.begin(), seeds.end());
  std::uint8_t bump = 255;
  with_bump.emplace_back(&bump, 1);
  for (;; --bump) {
    WEFT_ASSIGN(const auto address, program_address(with_bump, program));
    if (address) return FoundAddress{*address, bump};
    if (bump == 0)
      return fail(ErrorCode::not_found, "No bump gives these seeds an address off the curve.");
  }
}

PublicKey system_program() { return {}; }
PublicKey token_program() { return well_known("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"); }
PublicKey associated_token_program() {
  return well_known("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
}
PublicKey ed25519_program() { return well_known("Ed25519SigVerify111111111111111111111111111"); }
PublicKey instructions_sysvar() {
  return well_known("Sysvar1nstructions1111111111111111111111111");
}
PublicKey compute_budget_program() {
  return well_known("ComputeBudget111111111111111111111111111111");
}
PublicKey upgradeable_loader() { return well_known("BPFLoaderUpgradeab1e11111111111111111111111"); }
PublicKey rent_sysvar() { return well_known("SysvarRent111111111111111111111111111111111"); }
PublicKey clock_sysvar() { return well_known("SysvarC1ock11111111111111111111111111111111"); }

PublicKey associated_token_account(const PublicKey& wallet, const PublicKey& mint) {
  const PublicKey token = token_program();
  const std::array<ByteSpan, 3> seeds = {wallet.span(), token.span(), mint.span()};
  const auto found = find_program_address(seeds, associated_token_program());
  check(found.has_value(), "a wallet has an associated account");
  return found->address;
}

}  // namespace weft::solana
