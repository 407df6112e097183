// Finds the files of the machine's Vulkan drivers that a confined process may not open. Without
// this check a driver outside of the system's folders would look like a missing GPU.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace weft::worker {

// Returns the drivers' manifests, and the libraries that they name by a path. It searches as
// Vulkan's loader does: by VK_DRIVER_FILES, VK_ICD_FILENAMES or in the system's folders. Invalid or
// unreadable files are skipped. Called before confine().
[[nodiscard]] std::vector<std::filesystem::path> driver_files();

// Called after confine(): returns a message that names the first existing file that may not be
// opened, and the remedy; empty if there is no such file.
[[nodiscard]] std::string refused_driver(std::span<const std::filesystem::path> files);

}  // namespace weft::worker
