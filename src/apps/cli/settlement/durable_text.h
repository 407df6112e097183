// Small files that a command needs after a crash.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/base/result.h"

namespace weft::cli {

// In place of what the file held; on the disk when it returns, as is its name.
[[nodiscard]] Result<> write_durably(const std::filesystem::path& path, std::string_view text);

}  // namespace weft::cli
