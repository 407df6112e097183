// The folder of this program's installation, and the user's cache folder.
#pragma once

#include <filesystem>

namespace weft::cli {

[[nodiscard]] std::filesystem::path own_executable();
// The checkout in which the program was built (build/PRESET/weft), or the folder of a bundle.
[[nodiscard]] std::filesystem::path installation_folder();
// The folder for files that can be made again, such as compiled shaders: $XDG_CACHE_HOME/weft, else
// ~/.cache/weft; empty if neither XDG_CACHE_HOME nor HOME is set.
[[nodiscard]] std::filesystem::path cache_folder();

}  // namespace weft::cli
