// Holds a coordinator's data folder for one process; the kernel lets go of it when the process
// ends, however it ends.
#pragma once

#include <filesystem>

#include "common/base/result.h"

namespace weft::coordinator {

class FolderLock {
 public:
  // unavailable if another process holds it.
  [[nodiscard]] static Result<FolderLock> take(const std::filesystem::path& folder);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace weft::coordinator
