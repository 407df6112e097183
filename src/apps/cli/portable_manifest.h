// Makes a manifest that can be sent to a coordinator: the shader file is included, and data files
// are uploaded as blobs.
#pragma once

#include <filesystem>
#include <string>

#include "apps/cli/api_client.h"
#include "common/base/result.h"
#include "common/crypto/keys.h"

namespace weft::cli {

// Relative paths start at the manifest's folder.
[[nodiscard]] Result<std::string> portable_manifest(const std::filesystem::path& file,
                                                    ApiClient& client,
                                                    const crypto::KeyPair& wallet);

}  // namespace weft::cli
