#include "worker/sandbox/driver_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <unistd.h>

#include "common/base/format.h"
#include "common/json/json.h"

namespace weft::worker {
namespace {

namespace fs = std::filesystem;

void add_manifests_in(const fs::path& folder, std::vector<fs::path>& manifests) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".json") manifests.push_back(entry.path());
  }
}

std::vector<fs::path> manifests() {
  std::vector<fs::path> found;
  for (const char* variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
    const char* const list = std::getenv(variable);
    if (list == nullptr) continue;
    std::istringstream in(list);
    for (std::string entry; std::getline(in, entry, ':');) {
      std::error_code ignored;
      if (fs::is_directory(entry, ignored))
        add_manifests_in(entry, found);
      else if (!entry.empty())
        found.emplace_back(entry);
    }
    return found;  // If the environment variable is set, it replaces the folders below.
  }
  for (const char* folder : {"/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d",
                             "/usr/share/vulkan/icd.d", "/run/opengl-driver/share/vulkan/icd.d"})
    add_manifests_in(folder, found);
  std::ranges::sort(found);
  return found;
}

std::optional<std::string> library_of(const fs::path& manifest) {
  constexpr std::size_t bytes_max = std::size_t{64} << 10;
  std::ifstream file(manifest, std::ios::binary);
  std::string text(bytes_max, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const auto root = json::parse(text);
  if (!root) return {};
  const auto member = [](const json::Value& of, std::string_view name) {
    std::optional<json::Value> value;
    if (const auto members = of.members()) {
      for (const auto& [key, each] : *members)
        if (key == name) value = each;
    }
    return value;
  };
  const auto driver = member(*root, "ICD");
  const auto library = driver ? member(*driver, "library_path") : std::nullopt;
  const auto path = library ? library->string() : Result<std::string>(std::string());
  return path && !path->empty() ? std::optional(*path) : std::nullopt;
}

}  // namespace

std::vector<fs::path> driver_files() {
  std::vector<fs::path> files;
  for (const fs::path& manifest : manifests()) {
    files.push_back(manifest);
    const auto library = library_of(manifest);
    // A library without a path is loaded from the system's folders.
    if (!library || !library->contains('/')) continue;
    files.push_back((manifest.parent_path() / *library).lexically_normal());
  }
  return files;
}

std::string refused_driver(std::span<const fs::path> files) {
  for (const fs::path& path : files) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
      ::close(file);
      continue;
    }
    if (errno != EACCES && errno != EPERM) continue;
    return weft::format(
        "The sandbox may not read {}, a file of a Vulkan driver: name its folder in "
        "LD_LIBRARY_PATH, or move the driver to a folder of the system (/usr).",
        path.string());
  }
  return {};
}

}  // namespace weft::worker
