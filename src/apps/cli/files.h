// Reads and writes whole files, with errors that name the file.
#pragma once

#include <filesystem>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weft::cli {

// Fails with not_found or permission_denied if the file cannot be opened, with invalid_argument for
// a folder, and with resource_exhausted for a file over 4 GiB.
[[nodiscard]] Result<ByteVector> read_file(const std::filesystem::path& path);
// Creates the folder if needed. Writes a temporary file and renames it, so that after a crash the
// file has either its old or its new content.
[[nodiscard]] Result<> write_file(const std::filesystem::path& path, ByteSpan bytes);

}  // namespace weft::cli
