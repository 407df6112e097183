#include "apps/cli/installation.h"

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

}  // namespace weft::cli
