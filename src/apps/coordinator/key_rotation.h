// Changes of a coordinator's key, each announced with a signature of the old key: DATA/rotations
// has a line "OLD NEW SIGNATURE" for each change (protocol::rotation_digest), oldest first. Clients
// that know an old key follow these lines to the key in use.
#pragma once

#include <filesystem>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/protocol/api.h"

namespace weft::coordinator {

// Empty if there is no file; invalid_argument if it is not as above.
[[nodiscard]] Result<std::vector<protocol::api::KeyRotation>> read_rotations(
    const std::filesystem::path& data);

// Makes a new key for the coordinator of a folder, which must not be running, and returns it. The
// old one stays as DATA/coordinator-KEY.json: its owner's balance is reached with it. Either the
// old key or the new one is in use, whenever the process ends.
[[nodiscard]] Result<PublicKey> rotate_key(const std::filesystem::path& data);

}  // namespace weft::coordinator
