#include "decisions/jobs/core_parts.h"

#include <algorithm>
#include <chrono>

namespace weft::jobs {

void CoreParts::decide(Moment now) {
  tables.scheduler.histories().set_clock(now.at, now.unix);
  tables.latest = now;
  checks.expire(now);
  scheduling.decide(now);
  sessions.end_suspensions(now);
  samples.warn_of_lag(now);
  held.free(now);
  corrections.go_on(now);
  check_sweep.sweep(tables, now.unix);
  standings.store(now);
  presence.store(now);
  watch.keep_history(now);
  prices.observe_season(now);
}

std::optional<Instant> CoreParts::next_deadline() const {
  std::optional<Instant> next;
  const auto at_most = [&](const std::optional<Instant>& deadline) {
    if (deadline) next = next ? std::min(*next, *deadline) : *deadline;
  };
  at_most(tables.scheduler.next_deadline());
  at_most(checks.deadline());
  if (const auto ends = sessions.next_suspension_end())
    at_most(tables.latest.at + std::chrono::milliseconds(std::clamp<UnixMillis>(
                                   *ends - tables.latest.unix, 0, 3'600'000)));
  at_most(held.next());
  return next;
}

}  // namespace weft::jobs
