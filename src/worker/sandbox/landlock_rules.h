// Restricts this thread and its children with Landlock to the listed files. Internal to the
// confinement.
#pragma once

#include <filesystem>
#include <vector>

#include "common/base/result.h"

namespace weft::worker {

struct LandlockRules {
  std::vector<std::filesystem::path>
      // Files, or folders with their contents; also executable, because drivers are libraries.
      readable;
  // Folders whose names may be listed, without their files' contents.
  std::vector<std::filesystem::path> listable;
  std::vector<std::filesystem::path> writable;  // Files that may be written: devices.
};

// Paths that do not exist are skipped. Fails with unsupported if the kernel has no Landlock.
[[nodiscard]] Result<> apply_landlock(const LandlockRules& rules);

}  // namespace weft::worker
