// The data folder is the operator's alone: it holds keys, the secret of draws, and clients' data.
#pragma once

#include <filesystem>

#include "common/base/result.h"

namespace weft::coordinator {

// Makes the folder where it is missing, and takes every right of others from it: 0700 for folders,
// 0600 for files, but for tls/cert.pem, which is public. Folders that were open are repaired with
// all that is in them. unavailable if the file system refuses.
[[nodiscard]] Result<> make_private(const std::filesystem::path& folder);

}  // namespace weft::coordinator
