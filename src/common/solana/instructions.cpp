#include "common/solana/instructions.h"

#include "common/base/check.h"
#include "common/crypto/sha256.h"
#include "common/solana/address.h"

namespace weft::solana {
namespace {

Instruction loader_call(std::uint32_t kind, std::vector<AccountUse> accounts) {
  Instruction out{.program = upgradeable_loader(), .accounts = std::move(accounts)};
  append_le(out.data, kind);
  return out;
}

}  // namespace

Instruction create_account(const NewAccount& account) {
  Instruction out{.program = system_program(),
                  .accounts = {{account.payer, true, true}, {account.address, true, true}}};
  append_le<std::uint32_t>(out.data, 0);
  append_le(out.data, account.lamports);
  append_le(out.data, account.bytes);
  append(out.data, account.owner.span());
  return out;
}

PublicKey seeded_address(const PublicKey& base, std::string_view seed, const PublicKey& owner) {
  check(seed.size() <= seed_bytes_max, "a seed has 32 bytes at most");
  const Hash hash =
      crypto::Sha256().update(base.span()).update(as_bytes(seed)).update(owner.span()).finish();
  PublicKey out;
  out.bytes = hash.bytes;
  return out;
}

Instruction create_seeded_account(const NewAccount& account, const PublicKey& base,
                                  std::string_view seed) {
  Instruction out{.program = system_program(),
                  .accounts = {{account.payer, true, true},
                               {seeded_address(base, seed, account.owner), false, true},
                               {base, true, false}}};
  append_le<std::uint32_t>(out.data, 3);
  append(out.data, base.span());
  append_le<std::uint64_t>(out.data, seed.size());
  append(out.data, as_bytes(seed));
  append_le(out.data, account.lamports);
  append_le(out.data, account.bytes);
  append(out.data, account.owner.span());
  return out;
}

Instruction initialize_mint(const PublicKey& mint, const PublicKey& authority) {
  Instruction out{.program = token_program(), .accounts = {{mint, false, true}}, .data = {20, 6}};
  append(out.data, authority.span());
  out.data.push_back(0);
  return out;
}

Instruction initialize_token_account(const PublicKey& account, const PublicKey& mint,
                                     const PublicKey& owner) {
  Instruction out{.program = token_program(),
                  .accounts = {{account, false, true}, {mint, false, false}},
                  .data = {18}};
  append(out.data, owner.span());
  return out;
}

Instruction create_associated_account(const PublicKey& payer, const PublicKey& wallet,
                                      const PublicKey& mint) {
  return {.program = associated_token_program(),
          .accounts = {{payer, true, true},
                       {associated_token_account(wallet, mint), false, true},
                       {wallet, false, false},
                       {mint, false, false},
                       {system_program(), false, false},
                       {token_program(), false, false}},
          .data = {1}};
}

Instruction initialize_buffer(const PublicKey& buffer, const PublicKey& authority) {
  return loader_call(0, {{buffer, false, true}, {authority, false, false}});
}

Instruction write_buffer(const PublicKey& buffer, const PublicKey& authority, std::uint32_t offset,
                         ByteSpan bytes) {
  Instruction out = loader_call(1, {{buffer, false, true}, {authority, true, false}});
  append_le(out.data, offset);
  append_le<std::uint64_t>(out.data, bytes.size());
  append(out.data, bytes);
  return out;
}

PublicKey program_data_address(const PublicKey& program) {
  const ByteSpan seeds[] = {program.span()};
  const auto found = find_program_address(seeds, upgradeable_loader());
  check(found.has_value(), "a program has an address for its data");
  return found->address;
}

Instruction deploy_program(const Deployment& deployment) {
  Instruction out = loader_call(2, {{deployment.payer, true, true},
                                    {program_data_address(deployment.program), false, true},
                                    {deployment.program, false, true},
                                    {deployment.buffer, false, true},
                                    {rent_sysvar(), false, false},
                                    {clock_sysvar(), false, false},
                                    {system_program(), false, false},
                                    {deployment.authority, true, false}});
  append_le(out.data, deployment.bytes_max);
  return out;
}

Instruction set_upgrade_authority(const PublicKey& program, const PublicKey& authority,
                                  const PublicKey* next) {
  std::vector<AccountUse> accounts = {{program_data_address(program), false, true},
                                      {authority, true, false}};
  if (next != nullptr) accounts.push_back({*next, false, false});
  return loader_call(4, std::move(accounts));
}

Instruction check_signatures(std::span<const SignedDigest> signatures) {
  // Offsets count from the start of this instruction's data; 0xffff is this instruction itself.
  constexpr std::size_t offsets_bytes = 14, body_bytes = 32 + 64 + 32;
  constexpr std::uint16_t here = 0xffff;
  Instruction out{.program = ed25519_program(),
                  .data = {static_cast<std::uint8_t>(signatures.size()), 0}};
  std::size_t at = 2 + offsets_bytes * signatures.size();
  for (std::size_t i = 0; i < signatures.size(); ++i, at += body_bytes)
    for (const std::size_t value : {at + 32, std::size_t{here}, at, std::size_t{here}, at + 96,
                                    std::size_t{32}, std::size_t{here}})
      append_le(out.data, static_cast<std::uint16_t>(value));
  for (const SignedDigest& one : signatures) {
    append(out.data, one.key.span());
    append(out.data, one.signature.span());
    append(out.data, one.digest.span());
  }
  return out;
}

}  // namespace weft::solana
