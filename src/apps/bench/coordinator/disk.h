// How long this disk takes to make a few bytes durable, asked now and then while something else is
// measured.
#pragma once

#include <filesystem>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace weft::coordinator::bench {

class DiskProbe {
 public:
  // Appends 4 KiB to a file in `folder` and syncs it (fdatasync), every `pause`, on a thread of its
  // own.
  DiskProbe(const std::filesystem::path& folder, Duration pause);
  DiskProbe(const DiskProbe&) = delete;
  // Ends it: the seconds that each took. unavailable if the disk refused.
  [[nodiscard]] Result<std::vector<double>> finish();

 private:
  int file_ = -1;
  bool failed_ = false;
  std::vector<double> seconds_;
  std::jthread thread_;
};

}  // namespace weft::coordinator::bench
