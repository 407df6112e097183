// Slow tails: a task that runs for much longer than predicted gets a copy on another worker.
// The first result that counts settles the task; the other lease is cancelled and no worker is
// blamed.
//
// Only the tail of a job: while it has tasks that no worker runs, a free worker does more good with
// one of those. And only a few at a time: where everything is late the predictions are wrong, not
// the workers.
#pragma once

#include <algorithm>
#include <cstddef>

#include "common/base/clock.h"

namespace weft::scheduler {

struct Speculation {
  double late_factor = 3;  // Times the predicted time,
  Duration late_min =
      std::chrono::seconds(2);    // but not before this: fetching and sending are not predicted.
  double copies_share_max = 0.1;  // Share of all workers, and one in any case.
  bool enabled = true;
};

// From when on a task is late that was begun at `began` and predicted to take so long.
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
