// When workers come and go, as the scheduler has learned it, outlives the process.
#include <algorithm>

#include "decisions/jobs/core_state.h"

namespace weft::jobs {
namespace {

using scheduler::Presence;
// How often connected workers' presence is stored; that of the others is stored when they leave.
constexpr auto store_every = std::chrono::hours(1);

}  // namespace

void Core::State::restore_presence(std::span<const store::Presence> rows) {
  for (const auto& row : rows) {
    std::array<Presence::Hour, Presence::hours> seen;
    std::ranges::transform(row.hours, seen.begin(), [](const store::Presence::Hour& hour) {
      return Presence::Hour{
          .present_seconds = hour.present_seconds, .departures = hour.departures, .day = hour.day};
    });
    scheduler.restore_presence(row.worker, seen);
  }
}

void Core::State::store_presence(Moment now) {
  const auto keep = [&](const PublicKey& key) {
    const Presence* const known = scheduler.presence(key);
    if (known == nullptr) return;
    store::Presence row{.worker = key};
    std::ranges::transform(known->seen(), row.hours.begin(), [](const Presence::Hour& hour) {
      return store::Presence::Hour{
          .present_seconds = hour.present_seconds, .departures = hour.departures, .day = hour.day};
    });
    batch.presences.push_back({.row = row});
  };
  for (const PublicKey& key : scheduler.take_forgotten())
    batch.presences.push_back({.row = {.worker = key}, .change = store::Change::remove});
  for (const PublicKey& key : scheduler.take_moved()) keep(key);
  if (!presence_stored) presence_stored = now.at;
  if (now.at - *presence_stored < store_every) return;
  presence_stored = now.at;
  for (const auto& [key, worker] : workers) {
    (void)scheduler.stays(key, 0, now.at);  // Counts until now.
    keep(key);
  }
}

}  // namespace weft::jobs
