// Makes the data folder readable only for the operator's user, because it holds keys, the secret of
// draws, and clients' data.
#pragma once

#include <filesystem>

#include "common/base/result.h"

namespace weft::coordinator {

// Makes the folder if it does not exist, and removes all rights of other users: 0700 for folders,
// 0600 for files. Only tls/cert.pem stays public. If the folder was open to others, everything in
// it is closed too. Fails with invalid_argument if the folder cannot be made, and with unavailable
// if its rights cannot be changed.
[[nodiscard]] Result<> make_private(const std::filesystem::path& folder);

}  // namespace weft::coordinator
