// The invitation for the operator's own workers and clients on this machine, as a file that only
// the operator's user can read. Programs find the file by themselves, so that the operator need not
// pass it to them.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/crypto/keys.h"

namespace weft::coordinator {

// Writes the file `folder`/invite, which replaces an earlier one and is valid for ten years from
// `now` on. Returns its absolute path. Fails with unavailable if the file cannot be written.
[[nodiscard]] Result<std::string> write_invite(const std::filesystem::path& folder,
                                               const crypto::KeyPair& identity, UnixMillis now);

}  // namespace weft::coordinator
