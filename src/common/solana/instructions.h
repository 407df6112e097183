// Instructions of the runtime's own programs: creating accounts and mints, loading a program, and
// the check of Ed25519 signatures that the settlement program requires.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/solana/transaction.h"

namespace weft::solana {

inline constexpr std::size_t mint_bytes = 82;
inline constexpr std::size_t token_account_bytes = 165;
inline constexpr std::size_t loader_program_bytes = 36;
inline constexpr std::size_t loader_buffer_head = 37;
inline constexpr std::size_t loader_data_head = 45;
// The most bytes of a program that one transaction with one signature writes into a buffer.
inline constexpr std::size_t loader_write_max = 900;

struct NewAccount {
  PublicKey payer;
  PublicKey address;
  std::uint64_t lamports = 0;
  std::uint64_t bytes = 0;
  PublicKey owner;
};
// Creates an account. The payer and the account both sign.
[[nodiscard]] Instruction create_account(const NewAccount& account);
// SHA-256(base || seed || owner): an address for which `base` signs. `seed` has at most 32 bytes.
[[nodiscard]] PublicKey seeded_address(const PublicKey& base, std::string_view seed,
                                       const PublicKey& owner);
// Creates the account at seeded_address(); account.address is ignored.
[[nodiscard]] Instruction create_seeded_account(const NewAccount& account, const PublicKey& base,
                                                std::string_view seed);

// Initializes a mint with 6 decimals and no freeze authority.
[[nodiscard]] Instruction initialize_mint(const PublicKey& mint, const PublicKey& authority);
[[nodiscard]] Instruction initialize_token_account(const PublicKey& account, const PublicKey& mint,
                                                   const PublicKey& owner);
// Creates the wallet's account for a mint's tokens if it does not exist.
[[nodiscard]] Instruction create_associated_account(const PublicKey& payer, const PublicKey& wallet,
                                                    const PublicKey& mint);

// --- The upgradeable loader: a program is deployed from a buffer, which is written in parts.
[[nodiscard]] Instruction initialize_buffer(const PublicKey& buffer, const PublicKey& authority);
[[nodiscard]] Instruction write_buffer(const PublicKey& buffer, const PublicKey& authority,
                                       std::uint32_t offset, ByteSpan bytes);
struct Deployment {
  PublicKey payer;
  PublicKey program;
  PublicKey buffer;
  PublicKey authority;  // The buffer's authority, which becomes the program's.
  std::uint64_t bytes_max = 0;
};
[[nodiscard]] Instruction deploy_program(const Deployment& deployment);
// A `next` of nullptr means that no key may change the program after this.
[[nodiscard]] Instruction set_upgrade_authority(const PublicKey& program,
                                                const PublicKey& authority, const PublicKey* next);
[[nodiscard]] PublicKey program_data_address(const PublicKey& program);

// A signature over a digest, which the runtime checks. The settlement program reads the instruction
// directly before its own.
struct SignedDigest {
  PublicKey key;
  Signature signature;
  Hash digest;
};
[[nodiscard]] Instruction check_signatures(std::span<const SignedDigest> signatures);

}  // namespace weft::solana
