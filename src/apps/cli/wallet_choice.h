// The wallet that a command acts for: the file that was named, or the default one.
#pragma once

#include <filesystem>

#include "common/base/result.h"
#include "common/crypto/keys.h"

namespace weft::cli {

// Makes the file if there is none: for what begins with a wallet, such as the first job.
[[nodiscard]] Result<crypto::KeyPair> wallet_or_new(const std::filesystem::path& named);
// not_found if there is none: a new wallet has no key, stake, job or model to act on, and a
// mistyped path would go unnoticed.
[[nodiscard]] Result<crypto::KeyPair> wallet_there(const std::filesystem::path& named);

}  // namespace weft::cli
