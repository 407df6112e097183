#include "apps/bench/coordinator/disk.h"

#include <array>
#include <fcntl.h>
#include <unistd.h>

namespace weft::coordinator::bench {

DiskProbe::DiskProbe(const std::filesystem::path& folder, Duration pause)
    : file_(open((folder / "probe").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)),
      failed_(file_ < 0) {
  thread_ = std::jthread([this, pause](const std::stop_token& stop) {
    const std::array<char, 4096> bytes{};
    while (!failed_ && !stop.stop_requested()) {
      const Instant start = now();
      failed_ = write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
                fdatasync(file_) != 0;
      seconds_.push_back(seconds(now() - start));
      std::this_thread::sleep_for(pause);
    }
  });
}

Result<std::vector<double>> DiskProbe::finish() {
  thread_.request_stop();
  thread_.join();
  if (file_ >= 0) close(file_);
  if (failed_)
    return fail(ErrorCode::unavailable,
                "The disk cannot be measured: the file that measures it cannot be written in the "
                "data folder.");
  return seconds_;
}

}  // namespace weft::coordinator::bench
