// Addresses of Solana. A program's own address has no key: it is SHA-256(seeds || bump || program
// || "ProgramDerivedAddress") for the largest bump whose hash is not a point of the curve
// edwards25519.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::solana {

inline constexpr std::size_t seeds_max = 16;
inline constexpr std::size_t seed_bytes_max = 32;

// True if the key is on the curve, as the runtime decides it: the sign bit is dropped, a y of p or
// more is reduced, and x = 0 counts with either sign.
[[nodiscard]] bool is_on_curve(const PublicKey& key);

// The address for these seeds, of which the last one is the bump. nullopt if the address is on the
// curve. Fails with invalid_argument above the bounds.
[[nodiscard]] Result<std::optional<PublicKey>> program_address(std::span<const ByteSpan> seeds,
                                                               const PublicKey& program);
struct FoundAddress {
  PublicKey address;
  std::uint8_t bump = 0;
};
[[nodiscard]] Result<FoundAddress> find_program_address(std::span<const ByteSpan> seeds,
                                                        const PublicKey& program);

// The addresses of the runtime's own programs and accounts.
[[nodiscard]] PublicKey system_program();
[[nodiscard]] PublicKey token_program();
[[nodiscard]] PublicKey associated_token_program();
[[nodiscard]] PublicKey ed25519_program();
[[nodiscard]] PublicKey instructions_sysvar();
[[nodiscard]] PublicKey compute_budget_program();
[[nodiscard]] PublicKey upgradeable_loader();
[[nodiscard]] PublicKey rent_sysvar();
[[nodiscard]] PublicKey clock_sysvar();

// The wallet's account for a mint's tokens.
[[nodiscard]] PublicKey associated_token_account(const PublicKey& wallet, const PublicKey& mint);

}  // namespace weft::solana
