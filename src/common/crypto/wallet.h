// A wallet file in the form of Solana's id.json: a JSON array of 64 numbers (seed, then public
// key), mode 0600. Native only.
#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/crypto/keys.h"

namespace weft::crypto {

// Returns $XDG_CONFIG_HOME/weft/wallet.json, or ~/.config/weft/wallet.json if the variable is not
// set.
[[nodiscard]] Result<std::filesystem::path> default_wallet_path();
// Loads a wallet. Refuses a file that others may read, a file that is not a wallet, and a wallet
// whose public key does not belong to its seed.
[[nodiscard]] Result<KeyPair> load_wallet(const std::filesystem::path& path);
// Makes the folder (0700) and the file (0600, written under another name and then linked). Fails
// with already_exists if there is a wallet.
[[nodiscard]] Result<KeyPair> create_wallet(const std::filesystem::path& path);
[[nodiscard]] Result<KeyPair> load_or_create_wallet(const std::filesystem::path& path);

}  // namespace weft::crypto
