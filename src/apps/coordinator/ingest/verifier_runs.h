// Groups the drawn parts of a task into runs on a device. Neighbouring parts share a run, and the
// work between two parts is included if it takes less time than a separate run. A sample of many
// small parts then costs little more than its work. The work between the parts is also compared.
// Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/base/clock.h"
#include "common/manifest/split.h"

namespace weft::coordinator {

// The measured costs of a job's runs on this machine.
class RunCosts {
 public:
  void ran(std::uint32_t workgroups, double seconds) {
    least_seconds_ = std::min(least_seconds_, seconds);
    if (workgroups < largest_) return;
    largest_ = workgroups;
    workgroup_seconds_ = seconds / std::max(workgroups, 1U);
  }
  // The number of workgroups that take less time than a separate run; 0 before the first run. The
  // estimate is cautious: the time of a separate run is that of the shortest run, and the time of a
  // workgroup that of the largest run.
  [[nodiscard]] std::uint32_t gap_max() const {
    if (largest_ == 0 || workgroup_seconds_ <= 0) return 0;
    return static_cast<std::uint32_t>(std::min(least_seconds_ / workgroup_seconds_, 1e9));
  }

 private:
  double least_seconds_ = std::numeric_limits<double>::infinity();
  std::uint32_t largest_ = 0;
  double workgroup_seconds_ = 0;
};

// Estimates how many workgroups of a job a device computes within a time limit. A run that exceeds
// the limit halves the estimate. The next run within the limit replaces it, because the machine may
// only have been busy.
class RunLimit {
 public:
  void ran(std::uint32_t workgroups, double seconds) {
    const double each = std::max(seconds / std::max(workgroups, 1U), 1e-12);
    // Fixed costs make the time of a workgroup too large in small runs, so a small run may only
    // lower it.
    if (workgroups < largest_ && each > each_) return;
    largest_ = std::max(largest_, workgroups);
    each_ = each;
    if (workgroups >= late_) late_ = 0;
  }
  // Records a run that ran out of time: until `late_until` no run with as many workgroups begins.
  void ran_out(std::uint32_t workgroups, double seconds, Instant late_until) {
    largest_ = std::max(workgroups / 2, 1U);
    each_ = seconds / largest_;
    late_ = std::max(workgroups, 1U);
    late_until_ = late_until;
  }
  // The number of workgroups that a run of `seconds` should compute; 0 if nothing was measured.
  [[nodiscard]] std::uint32_t workgroups_in(double seconds) const {
    constexpr double rounding = 1 + 1e-9;
    return each_ <= 0
               ? 0
               : static_cast<std::uint32_t>(std::min(seconds / each_ * rounding, 4'294'967'295.0));
  }
  // True if a run of at most `workgroups` exceeded the time limit, and it is too early to try
  // again.
  [[nodiscard]] bool is_late(std::uint32_t workgroups, Instant now) const {
    return late_ > 0 && workgroups >= late_ && now < late_until_;
  }

 private:
  std::uint32_t largest_ = 0;
  double each_ = 0;         // Measured seconds of one workgroup.
  std::uint32_t late_ = 0;  // Workgroups of the last run over the limit; 0: none.
  Instant late_until_{};
};

[[nodiscard]] inline bool is_inside(manifest::Range part, manifest::Range range) {
  return part.first >= range.first && part.first + part.count <= range.first + range.count;
}

// The runs for `parts`, which must be in order and must not overlap. A run has at most `count_max`
// workgroups, unless a single part has more.
[[nodiscard]] inline std::vector<manifest::Range> runs_of(const std::vector<manifest::Range>& parts,
                                                          std::uint32_t gap_max,
                                                          std::uint32_t count_max) {
  std::vector<manifest::Range> runs;
  for (const manifest::Range& part : parts) {
    if (!runs.empty()) {
      manifest::Range& last = runs.back();
      const std::uint32_t end = last.first + last.count;
      const std::uint32_t together = part.first + part.count - last.first;
      if (part.first >= end && part.first - end <= gap_max && together <= count_max) {
        last.count = together;
        continue;
      }
    }
    runs.push_back(part);
  }
  return runs;
}

}  // namespace weft::coordinator
