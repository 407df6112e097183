#include "apps/coordinator/disk_reserve.h"

#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "common/base/log.h"

namespace weft::coordinator {

DiskReserve::DiskReserve(std::filesystem::path file, std::uint64_t bytes)
    : file_(std::move(file)), bytes_(bytes) {
  make();
}

void DiskReserve::make() {
  if (bytes_ == 0 || there_) return;
  std::error_code error;
  const auto space = std::filesystem::space(file_.parent_path(), error);
  if (error || space.available < 2 * bytes_) return;
  const int descriptor = open(file_.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor < 0) return;
  there_ = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes_)) == 0;
  close(descriptor);
  if (!there_) std::filesystem::remove(file_, error);
}

void DiskReserve::disk_full(bool full) {
  if (!full) {
    said_ = false;
    log_warning("The disk has room again: the decisions that waited are stored.");
    return make();
  }
  if (!std::exchange(said_, true))
    log_error(
        "The disk is full: the coordinator takes no new work, and its decisions wait to be stored. "
        "Free some space.");
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);  // The file may also be one of an earlier run.
  there_ = false;
}

}  // namespace weft::coordinator
