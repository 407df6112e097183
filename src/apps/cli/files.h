// Whole files, in and out, with errors that name the file.
#pragma once

#include <filesystem>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weft::cli {

// not_found, permission_denied, or resource_exhausted over 4 GiB.
[[nodiscard]] Result<ByteVector> read_file(const std::filesystem::path& path);
// Makes the folder; writes beside and renames, so that there is the whole file or the old one.
[[nodiscard]] Result<> write_file(const std::filesystem::path& path, ByteSpan bytes);

}  // namespace weft::cli
