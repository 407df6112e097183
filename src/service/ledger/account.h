// The accounts of the double entry. Text forms: mint, client:KEY, escrow:JOB, worker:KEY, stake:KEY, platform.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::ledger {

// A value that is compared, hashed and ordered (by kind, then id); make one with the functions below.
struct Account {
  enum class Kind : std::uint8_t { mint, client, escrow, worker, stake, platform };

  Kind kind = Kind::mint;
  std::array<std::uint8_t, 32> id{};  // The key; a job's id and zeros for escrow; zeros for mint and platform.

  [[nodiscard]] static Account mint() { return {}; }
  [[nodiscard]] static Account platform() { return {.kind = Kind::platform, .id = {}}; }
  [[nodiscard]] static Account client(const PublicKey& key) { return {.kind = Kind::client, .id = key.bytes}; }
  [[nodiscard]] static Account worker(const PublicKey& key) { return {.kind = Kind::worker, .id = key.bytes}; }
  [[nodiscard]] static Account stake(const PublicKey& key) { return {.kind = Kind::stake, .id = key.bytes}; }
  [[nodiscard]] static Account escrow(const JobId& job);

  [[nodiscard]] std::string text() const;
  [[nodiscard]] static Result<Account> parse(std::string_view text);

  friend auto operator<=>(const Account&, const Account&) = default;
};

}  // namespace weft::ledger

template <>
struct std::hash<weft::ledger::Account> {
  std::size_t operator()(const weft::ledger::Account& account) const noexcept {
    return std::hash<weft::FixedBytes<32>>()(weft::FixedBytes<32>{account.id}) ^ (static_cast<std::size_t>(account.kind) << 56);
  }
};
