// The parts of a task that were drawn, as the runs in which a device computes them: neighbours
// together, and what lies between two of them as well where that takes less than another run. So a
// sample of many small parts costs little more than its work; what is computed beside the parts is
// compared, too. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/base/clock.h"
#include "common/manifest/split.h"

namespace weft::coordinator {

// What runs of a job take on this machine, as far as it has been seen.
class RunCosts {
 public:
  void ran(std::uint32_t workgroups, double seconds) {
    least_seconds_ = std::min(least_seconds_, seconds);
    if (workgroups < largest_) return;
    largest_ = workgroups;
    workgroup_seconds_ = seconds / std::max(workgroups, 1U);
  }
  // Workgroups that take less than a run of its own: the shortest run was one, and what a
  // workgroup takes in the largest is too much rather than too little. None before the first run.
  [[nodiscard]] std::uint32_t gap_max() const {
    if (largest_ == 0 || workgroup_seconds_ <= 0) return 0;
    return static_cast<std::uint32_t>(std::min(least_seconds_ / workgroup_seconds_, 1e9));
  }

 private:
  double least_seconds_ = std::numeric_limits<double>::infinity();
  std::uint32_t largest_ = 0;
  double workgroup_seconds_ = 0;
};

// How much of a job a device computes in the time of one run, as far as has been seen. A run that
// ran out of time halves it, and the next one that did not replaces what was known: the machine may
// have been busy.
class RunLimit {
 public:
  void ran(std::uint32_t workgroups, double seconds) {
    const double each = std::max(seconds / std::max(workgroups, 1U), 1e-12);
    // What a run takes besides its work counts most in small ones.
    if (workgroups < largest_ && each > each_) return;
    largest_ = std::max(largest_, workgroups);
    each_ = each;
    if (workgroups >= late_) late_ = 0;
  }
  // No run of as many is begun before `late_until`.
  void ran_out(std::uint32_t workgroups, double seconds, Instant late_until) {
    largest_ = std::max(workgroups / 2, 1U);
    each_ = seconds / largest_;
    late_ = std::max(workgroups, 1U);
    late_until_ = late_until;
  }
  // Workgroups that a run of so many seconds is expected to compute; 0: nothing is known.
  [[nodiscard]] std::uint32_t workgroups_in(double seconds) const {
    constexpr double rounding = 1 + 1e-9;
    return each_ <= 0
               ? 0
               : static_cast<std::uint32_t>(std::min(seconds / each_ * rounding, 4'294'967'295.0));
  }
  // Whether a run of so many ran out of time a moment ago.
  [[nodiscard]] bool is_late(std::uint32_t workgroups, Instant now) const {
    return late_ > 0 && workgroups >= late_ && now < late_until_;
  }

 private:
  std::uint32_t largest_ = 0;
  double each_ = 0;         // Seconds of a workgroup.
  std::uint32_t late_ = 0;  // Workgroups of the run that ran out of time; 0: none.
  Instant late_until_{};
};

[[nodiscard]] inline bool is_inside(manifest::Range part, manifest::Range range) {
  return part.first >= range.first && part.first + part.count <= range.first + range.count;
}

// `parts` in order of place, without overlaps. A run has `count_max` workgroups at most, unless a
// single part has more.
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
