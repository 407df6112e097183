// Small files that must survive a crash.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "common/base/result.h"

namespace weft::cli {

// Replaces the file's content. The content and the file's name are on the disk when this returns.
[[nodiscard]] Result<> write_durably(const std::filesystem::path& path, std::string_view text);

// Returns the path of a file with this ending beside the wallet; an empty path is the default
// wallet.
[[nodiscard]] Result<std::filesystem::path> file_beside(std::filesystem::path wallet,
                                                        std::string_view ending);

// Takes lines.size() lines, each ended by a line feed, from the start of the text. Returns false if
// there are fewer; the text is then the part after the last whole line.
[[nodiscard]] bool take_lines(std::string_view& text, std::span<std::string_view> lines);

}  // namespace weft::cli
