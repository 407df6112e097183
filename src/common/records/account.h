// The accounts of the double entry. An owner has free, granted, held and staked credits, and a
// settled account: the sum of credits that were moved out of the ledger to be paid on a chain,
// which only grows. A job has an escrow. `verification` pays verifiers; `platform` is the
// operator's account.
//
// Granted credits come from mint as a gift. They can be spent on jobs and answers, and pay from
// granted credits is granted too; they are never staked, transferred or settled. So each account
// that both kinds of credits can reach has a second account for granted credits.
//
//   mint  owner:OWNER  granted:OWNER  held:OWNER  held-granted:OWNER  stake:OWNER  settled:OWNER
//   escrow:JOB  escrow-granted:JOB  verification  verification-granted  platform  platform-granted
//
// Two names occur only in histories of older databases and are still read: worker:KEY, the account
// of a wallet's earnings, and client:KEY, the former name of owner:OWNER.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft {

// A person or organisation with one balance and any number of devices (wallet keys), named by the
// key of its first device. Text: base58.
struct OwnerId : FixedBytes<32> {
  [[nodiscard]] std::string text() const { return to_base58(bytes); }
  [[nodiscard]] static Result<OwnerId> parse(std::string_view text);
  // The owner that a key alone makes. ledger::Owners knows if the key belongs to another owner.
  [[nodiscard]] static OwnerId of_first(const PublicKey& device) { return {{device.bytes}}; }
};

}  // namespace weft

template <>
struct std::hash<weft::OwnerId> : std::hash<weft::FixedBytes<32>> {};

namespace weft::ledger {

// An account, as a value that is compared, hashed and ordered (by kind, then id). The functions
// below make accounts.
struct Account {
  // The numbers are stored, so they must not change.
  enum class Kind : std::uint8_t {
    mint = 0,
    owner = 1,  // Free credits, which may be spent, transferred and staked.
    escrow = 2,
    worker = 3,  // Occurs in older histories; has no credits.
    stake = 4,
    platform = 5,
    granted = 6,
    escrow_granted = 7,
    held = 8,  // Pay that is not free yet.
    held_granted = 9,
    verification = 10,
    verification_granted = 11,
    platform_granted = 12,
    settled = 13,  // Credits are never taken from a settled account.
  };
  static constexpr std::size_t kinds = 14;

  Kind kind = Kind::mint;
  std::array<std::uint8_t, 32> id{};  // The owner, or a job's id and zeros; otherwise zeros.

  [[nodiscard]] static Account mint() { return {}; }
  [[nodiscard]] static Account owner(const OwnerId& owner) { return of(Kind::owner, owner); }
  [[nodiscard]] static Account granted(const OwnerId& owner) { return of(Kind::granted, owner); }
  [[nodiscard]] static Account held(const OwnerId& owner) { return of(Kind::held, owner); }
  [[nodiscard]] static Account held_granted(const OwnerId& owner) {
    return of(Kind::held_granted, owner);
  }
  [[nodiscard]] static Account stake(const OwnerId& owner) { return of(Kind::stake, owner); }
  [[nodiscard]] static Account settled(const OwnerId& owner) { return of(Kind::settled, owner); }
  [[nodiscard]] static Account escrow(const JobId& job);
  [[nodiscard]] static Account escrow_granted(const JobId& job);
  [[nodiscard]] static Account verification() { return {.kind = Kind::verification, .id = {}}; }
  [[nodiscard]] static Account verification_granted() {
    return {.kind = Kind::verification_granted, .id = {}};
  }
  [[nodiscard]] static Account platform() { return {.kind = Kind::platform, .id = {}}; }
  [[nodiscard]] static Account platform_granted() {
    return {.kind = Kind::platform_granted, .id = {}};
  }

  [[nodiscard]] std::string text() const;
  [[nodiscard]] static Result<Account> parse(std::string_view text);

  friend auto operator<=>(const Account&, const Account&) = default;

 private:
  static Account of(Kind kind, const OwnerId& owner) { return {.kind = kind, .id = owner.bytes}; }
};

// True if accounts of this kind hold granted credits.
[[nodiscard]] bool is_granted(Account::Kind kind);
// True if an account of this kind has the id of an owner, or a key (`worker`).
[[nodiscard]] bool has_owner(Account::Kind kind);

}  // namespace weft::ledger

template <>
struct std::hash<weft::ledger::Account> {
  std::size_t operator()(const weft::ledger::Account& account) const noexcept {
    return std::hash<weft::FixedBytes<32>>()(weft::FixedBytes<32>{account.id}) ^
           (static_cast<std::size_t>(account.kind) << 56);
  }
};
