// The invitation for workers and clients of the operator's on this machine, as a file that only the
// operator's user can read: programs take it from there and need be given none.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/crypto/keys.h"

namespace weft::coordinator {

// Writes `folder`/invite in the place of an earlier one, valid for ten years from `now` on; its
// absolute path. unavailable if it cannot be written.
[[nodiscard]] Result<std::string> write_invite(const std::filesystem::path& folder,
                                               const crypto::KeyPair& identity, UnixMillis now);

}  // namespace weft::coordinator
