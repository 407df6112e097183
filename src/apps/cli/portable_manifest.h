// A manifest as it goes over the wire: files that it names are read into it (the shader) or put as
// blobs (data).
#pragma once

#include <filesystem>
#include <string>

#include "apps/cli/api_client.h"
#include "common/base/result.h"
#include "common/crypto/keys.h"

namespace weft::cli {

// Relative paths are seen from the manifest's folder.
[[nodiscard]] Result<std::string> portable_manifest(const std::filesystem::path& file,
                                                    ApiClient& client,
                                                    const crypto::KeyPair& wallet);

}  // namespace weft::cli
