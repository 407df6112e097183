// Changes of a coordinator's key, each announced with a signature of the old key. The file
// DATA/rotations has one line "OLD NEW SIGNATURE" for each change (protocol::rotation_digest),
// oldest first. Clients that know an old key follow these lines to the current key.
#pragma once

#include <filesystem>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/protocol/api.h"

namespace weft::coordinator {

// The rotations in DATA/rotations, oldest first; empty if the file does not exist. Fails with
// invalid_argument if a line is malformed.
[[nodiscard]] Result<std::vector<protocol::api::KeyRotation>> read_rotations(
    const std::filesystem::path& data);

// Makes and returns a new key for the coordinator of the folder `data`, which must not be running.
// The old key stays as DATA/coordinator-KEY.json, because the balance of its owner can only be
// reached with it. A crash during the rotation leaves either the old or the new key in use.
[[nodiscard]] Result<PublicKey> rotate_key(const std::filesystem::path& data);

}  // namespace weft::coordinator
