// Landlock: from now on this thread and its children open only what is listed. Internal to the
// confinement.
#pragma once

#include <filesystem>
#include <vector>

#include "common/base/result.h"

namespace weft::worker {

struct LandlockRules {
  std::vector<std::filesystem::path>
      readable;  // Files, or folders with all below; also mapped as code (drivers are libraries).
  std::vector<std::filesystem::path> listable;  // Folders: names, not what the files hold.
  std::vector<std::filesystem::path> writable;  // Devices.
};

// Paths that do not exist are passed over. unsupported if the kernel has no Landlock.
[[nodiscard]] Result<> apply_landlock(const LandlockRules& rules);

}  // namespace weft::worker
