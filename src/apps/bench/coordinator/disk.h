// Measures the time that this disk takes to make a few bytes durable, at intervals while something
// else is measured.
#pragma once

#include <filesystem>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace weft::coordinator::bench {

class DiskProbe {
 public:
  // Starts a thread that appends 4 KiB to a file in `folder` and syncs it (fdatasync) every
  // `pause`.
  DiskProbe(const std::filesystem::path& folder, Duration pause);
  DiskProbe(const DiskProbe&) = delete;
  // Ends the thread. Returns the seconds of each sync, or unavailable if the disk failed.
  [[nodiscard]] Result<std::vector<double>> finish();

 private:
  int file_ = -1;
  bool failed_ = false;
  std::vector<double> seconds_;
  std::jthread thread_;
};

}  // namespace weft::coordinator::bench
