// The files of the machine's Vulkan drivers, and which of them a confined process may not open: a
// driver outside the system's folders is otherwise just no GPU.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace weft::worker {

// The drivers' manifests, and the libraries that they name by a path: as Vulkan's loader finds
// them, by VK_DRIVER_FILES, VK_ICD_FILENAMES or in the system's folders. Call it before confine().
// What cannot be read or is no manifest is passed over.
[[nodiscard]] std::vector<std::filesystem::path> driver_files();

// After confine(): a sentence that names the first of these that is there and may not be opened,
// and what to do; empty if there is none.
[[nodiscard]] std::string refused_driver(std::span<const std::filesystem::path> files);

}  // namespace weft::worker
