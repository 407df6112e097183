#include "apps/cli/scratch_folder.h"

#include <cstdlib>
#include <string>

#include "common/base/check.h"

namespace weft::cli {

ScratchFolder::ScratchFolder(std::string_view name) {
  std::string pattern = (std::filesystem::temp_directory_path() / name).string() + ".XXXXXX";
  check(::mkdtemp(pattern.data()) != nullptr, "the temporary folder can be written");
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace weft::cli
