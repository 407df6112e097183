#include "decisions/jobs/worker_presence.h"

#include <algorithm>
#include <array>

namespace weft::jobs {

namespace {

using scheduler::Presence;
// The interval at which the presence of connected workers is stored; that of other workers is
// stored when they leave.
constexpr auto store_every = std::chrono::hours(1);

}  // namespace

void WorkerPresence::restore(std::span<const store::Presence> rows) {
  for (const auto& row : rows) {
    std::array<Presence::Hour, Presence::hours> seen;
    std::ranges::transform(row.hours, seen.begin(), [](const store::Presence::Hour& hour) {
      return Presence::Hour{
          .present_seconds = hour.present_seconds, .departures = hour.departures, .day = hour.day};
    });
    tables_.scheduler.histories().restore(row.worker, seen);
  }
}

void WorkerPresence::store(Moment now) {
  const auto keep = [&](const PublicKey& key) {
    const Presence* const known = tables_.scheduler.views().presence(key);
    if (known == nullptr) return;
    store::Presence row{.worker = key};
    std::ranges::transform(known->seen(), row.hours.begin(), [](const Presence::Hour& hour) {
      return store::Presence::Hour{
          .present_seconds = hour.present_seconds, .departures = hour.departures, .day = hour.day};
    });
    tables_.outbox.batch().presences.push_back({.row = row});
  };
  for (const PublicKey& key : tables_.scheduler.histories().take_forgotten())
    tables_.outbox.batch().presences.push_back(
        {.row = {.worker = key}, .change = store::Change::remove});
  for (const PublicKey& key : tables_.scheduler.histories().take_moved()) keep(key);
  if (!stored_) stored_ = now.at;
  if (now.at - *stored_ < store_every) return;
  stored_ = now.at;
  for (const auto& [key, worker] : tables_.workers.all()) {
    // Makes the scheduler count the worker's presence until now.
    (void)tables_.scheduler.views().stays(key, 0, now.at);
    keep(key);
  }
}

}  // namespace weft::jobs
