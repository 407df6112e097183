// A folder in the system's temporary folder that is removed with this object.
#pragma once

#include <filesystem>
#include <string_view>

namespace weft::cli {

class ScratchFolder {
 public:
  explicit ScratchFolder(std::string_view name);
  ScratchFolder(const ScratchFolder&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace weft::cli
