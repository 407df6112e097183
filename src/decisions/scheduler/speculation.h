// Copies for slow tails: a task that runs for much longer than predicted gets a copy on another
// worker. The first result that counts settles the task; the other lease is cancelled, and no
// worker is blamed.
//
// Only the tail of a job gets copies: while the job has tasks that no worker runs, a free worker is
// more useful on one of those tasks. The number of copies is limited, because if all tasks are late
// the predictions are wrong, not the workers.
#pragma once

#include <algorithm>
#include <cstddef>

#include "common/base/clock.h"

namespace weft::scheduler {

struct Speculation {
  // A run is late after its predicted time multiplied by this factor, but not before late_min.
  double late_factor = 3;
  // A run is not late before this time, because predictions do not include fetching and sending.
  Duration late_min = std::chrono::seconds(2);
  // The most copies at a time, as a share of all workers; at least one.
  double copies_share_max = 0.1;
  bool enabled = true;
};

// The time from which a task counts as late. It began at `began` and was predicted to take
// `predicted_seconds`.
[[nodiscard]] inline Instant late_at(const Speculation& rule, Instant began,
                                     double predicted_seconds) {
  const auto late =
      std::chrono::duration<double>(std::min(rule.late_factor * predicted_seconds, 1e6));
  return began + std::max(rule.late_min, std::chrono::duration_cast<Duration>(late));
}

[[nodiscard]] inline bool may_copy(const Speculation& rule, std::size_t copies,
                                   std::size_t workers) {
  return rule.enabled && (copies == 0 || static_cast<double>(copies + 1) <=
                                             rule.copies_share_max * static_cast<double>(workers));
}

}  // namespace weft::scheduler
