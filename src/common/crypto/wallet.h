// A wallet file: the Solana id.json form, a JSON array of 64 numbers (seed, then public key), mode
// 0600. Native only.
#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/crypto/keys.h"

namespace weft::crypto {

// $XDG_CONFIG_HOME/weft/wallet.json, else ~/.config/weft/wallet.json.
[[nodiscard]] Result<std::filesystem::path> default_wallet_path();
// Refuses a file that others may read, that is no wallet, or whose public key does not belong to
// its seed.
[[nodiscard]] Result<KeyPair> load_wallet(const std::filesystem::path& path);
// Makes the folder (0700) and the file (0600, written beside and renamed); already_exists if
// there is one.
[[nodiscard]] Result<KeyPair> create_wallet(const std::filesystem::path& path);
[[nodiscard]] Result<KeyPair> load_or_create_wallet(const std::filesystem::path& path);

}  // namespace weft::crypto
