#include "apps/coordinator/folder_lock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <sys/file.h>

namespace weft::coordinator {

Result<FolderLock> FolderLock::take(const std::filesystem::path& folder) {
  const auto path = folder / "lock";
  const int descriptor = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return fail(ErrorCode::invalid_argument, "The data folder {} (--data) cannot be written: {}.",
                folder.string(), std::strerror(errno));
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    close(descriptor);
    return fail(ErrorCode::unavailable,
                "Another coordinator is running on the data folder {}; stop it, or choose "
                "another folder with --data.",
                folder.string());
  }
  return FolderLock(descriptor);
}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace weft::coordinator
