// In which order jobs are served: by a score in [0, 1] that says what the job is worth, plus an
// ageing that lets nothing starve. score = 0.4 * stake + 0.3 * urgency + 0.3 * complexity, each in
// [0, 1]:
//
//   stake       s / (s + 1000 credits), s being what the client has staked: half for 1000 credits,
//   never quite 1. urgency     the greater of priority / 100 and, where there is a deadline d, 60 s
//   / (60 s + d). complexity  log2(1 + workgroups * replicas) / 32, at most 1: what many workers
//   are wanted for goes first.
//
// Every job gains `ageing_per_minute` while it waits, all at the same pace, so that the order of
// two jobs never changes: it follows from score and time of submission alone, and a queue ordered
// by it stays ordered. With 0.1 a minute the least job is ahead of the greatest that comes ten
// minutes later.
#pragma once

#include <compare>
#include <cstdint>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::scheduler {

struct Worth {
  MicroCredits stake = 0;
  std::uint32_t priority = 50;  // 0 to 100.
  double deadline_s = 0;        // From submission; 0: none.
  std::uint64_t workgroups = 1;
  std::uint32_t replicas = 1;
};

[[nodiscard]] double score(const Worth& worth);
[[nodiscard]] double urgency(const Worth& worth);

inline constexpr double ageing_per_minute = 0.1;

// A job's place in the queue; the least is served first.
struct Rank {
  std::int64_t place = 0;      // Millionths: age at some fixed instant and score, taken together.
  std::uint64_t sequence = 0;  // Then who came first.
  friend auto operator<=>(const Rank&, const Rank&) = default;
};

[[nodiscard]] Rank rank_of(const Worth& worth, Instant submitted, std::uint64_t sequence);

}  // namespace weft::scheduler
