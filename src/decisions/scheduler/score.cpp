#include "decisions/scheduler/score.h"

#include <algorithm>
#include <cmath>

namespace weft::scheduler {

double urgency(const Worth& worth) {
  constexpr double urgent_deadline = 60;  // Seconds; gives an urgency of one half.
  const double by_deadline =
      worth.deadline_s > 0 ? urgent_deadline / (urgent_deadline + worth.deadline_s) : 0;
  return std::clamp(std::max(worth.priority / 100.0, by_deadline), 0.0, 1.0);
}

double score(const Worth& worth) {
  constexpr double half_stake = 1e9;  // Micro-credits of stake that give half of the points.
  constexpr double greatest_log2 = 32;
  const auto staked = static_cast<double>(std::max<MicroCredits>(worth.stake, 0));
  const double stake = staked / (staked + half_stake);
  const double complexity = std::min(
      std::log2(1 + static_cast<double>(worth.workgroups) * worth.replicas) / greatest_log2, 1.0);
  return 0.4 * stake + 0.3 * urgency(worth) + 0.3 * complexity;
}

Rank rank_of(const Worth& worth, Instant submitted, std::uint64_t sequence) {
  const double minutes = seconds(submitted.time_since_epoch()) / 60;
  return {.place = std::llround((minutes * ageing_per_minute - score(worth)) * 1e6),
          .sequence = sequence};
}

}  // namespace weft::scheduler
