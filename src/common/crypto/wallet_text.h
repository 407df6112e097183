// The text of a wallet, in a file or in a browser's export: Solana's id.json, a JSON array of 64
// numbers, which are the Ed25519 seed followed by its public key.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::crypto {

struct WalletNumbers {
  std::array<std::uint8_t, 32> seed{};
  PublicKey public_key;
};

[[nodiscard]] std::string wallet_text(const WalletNumbers& wallet);
// Reads a wallet strictly: 64 whole numbers from 0 to 255 and nothing after them. The caller checks
// that the public key belongs to the seed.
[[nodiscard]] Result<WalletNumbers> parse_wallet_text(std::string_view text);

}  // namespace weft::crypto
