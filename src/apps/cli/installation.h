// Where this program is and what lies beside it.
#pragma once

#include <filesystem>

namespace weft::cli {

[[nodiscard]] std::filesystem::path own_executable();
// The checkout that the program was built in (build/PRESET/weft), or the folder of a bundle.
[[nodiscard]] std::filesystem::path installation_folder();

}  // namespace weft::cli
