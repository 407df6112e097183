// The order in which jobs are served: by a score in [0, 1] for the worth of the job, plus an ageing
// that keeps every job from starving.
//
//   score = 0.4 * stake + 0.3 * urgency + 0.3 * complexity, each in [0, 1]
//
// - stake: s / (s + 1000 credits), where s is the client's stake. It is one half for 1000 credits,
//   and never quite 1.
// - urgency: priority / 100, or 60 s / (60 s + d) for a deadline d, whichever is greater.
// - complexity: log2(1 + workgroups * replicas) / 32, at most 1. Jobs that keep many workers busy
//   go first.
//
// Every job gains `ageing_per_minute` while it waits. All jobs gain equally, so the order of two
// jobs never changes: it follows from score and time of submission alone, and a queue in this order
// stays ordered. With 0.1 a minute, a job with the least score is ahead of a job with the greatest
// score that comes ten minutes later.
#pragma once

#include <compare>
#include <cstdint>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::scheduler {

struct Worth {
  MicroCredits stake = 0;
  std::uint32_t priority = 50;  // Priority, from 0 to 100.
  double deadline_s = 0;        // Seconds from submission; 0: no deadline.
  std::uint64_t workgroups = 1;
  std::uint32_t replicas = 1;
};

[[nodiscard]] double score(const Worth& worth);
[[nodiscard]] double urgency(const Worth& worth);

inline constexpr double ageing_per_minute = 0.1;

// A job's place in the queue; the least is served first.
struct Rank {
  std::int64_t place = 0;      // Millionths of a score: the time of submission minus the score.
  std::uint64_t sequence = 0;  // Order of arrival, for jobs of equal place.
  friend auto operator<=>(const Rank&, const Rank&) = default;
};

[[nodiscard]] Rank rank_of(const Worth& worth, Instant submitted, std::uint64_t sequence);

}  // namespace weft::scheduler
