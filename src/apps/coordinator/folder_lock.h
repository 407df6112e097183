// Locks a coordinator's data folder for one process. The kernel removes the lock when the process
// ends, even after a crash.
#pragma once

#include <filesystem>

#include "common/base/result.h"

namespace weft::coordinator {

class FolderLock {
 public:
  // Fails with unavailable if another process has locked the folder, and with invalid_argument if
  // the folder cannot be written.
  [[nodiscard]] static Result<FolderLock> take(const std::filesystem::path& folder);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace weft::coordinator
