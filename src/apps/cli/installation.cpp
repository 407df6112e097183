#include "apps/cli/installation.h"

#include <cstdlib>

namespace weft::cli {

std::filesystem::path own_executable() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

std::filesystem::path installation_folder() {
  const std::filesystem::path folder = own_executable().parent_path();
  const std::filesystem::path checkout = folder.parent_path().parent_path();
  return std::filesystem::exists(checkout / "examples") ? checkout : folder;
}

std::filesystem::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != 0)
    return std::filesystem::path(cache) / "weft";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != 0)
    return std::filesystem::path(home) / ".cache" / "weft";
  return {};
}

}  // namespace weft::cli
