// The wallet of a command: the file that was named, or the default one.
#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/crypto/keys.h"

namespace weft::cli {

// Reads the wallet, or creates it, for commands that need no older wallet, such as a first job.
[[nodiscard]] Result<crypto::KeyPair> wallet_or_new(const std::filesystem::path& named);
// Reads the wallet. Fails with not_found if it does not exist: a new wallet would have no key,
// stake, job or model to act on, and a mistyped path would not be noticed.
[[nodiscard]] Result<crypto::KeyPair> wallet_there(const std::filesystem::path& named);

}  // namespace weft::cli
