// Small files that a command needs after a crash.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "common/base/result.h"

namespace weft::cli {

// In place of what the file held; on the disk when it returns, as is its name.
[[nodiscard]] Result<> write_durably(const std::filesystem::path& path, std::string_view text);

// A file with this ending beside the wallet; an empty path is the usual wallet's.
[[nodiscard]] Result<std::filesystem::path> file_beside(std::filesystem::path wallet,
                                                        std::string_view ending);

// Takes as many lines from the front of the text, each ended by a line feed. False if there are
// fewer; the text is then what follows the last whole line.
[[nodiscard]] bool take_lines(std::string_view& text, std::span<std::string_view> lines);

}  // namespace weft::cli
