#include "decisions/trust/traps.h"

#include <algorithm>

namespace weft::trust {

void TrapPool::add(const Trap& trap, const std::vector<PublicKey>& known_to) {
  if (std::ranges::any_of(entries_,
                          [&](const Entry& entry) { return entry.trap.task == trap.task; }))
    return;
  entries_.push_back({.trap = trap, .known_to = {known_to.begin(), known_to.end()}});
  if (entries_.size() > traps_max) entries_.pop_front();
}

std::optional<Trap> TrapPool::take(const PublicKey& worker, std::uint64_t random) {
  for (std::size_t look = 0; look < std::min(looks_max, entries_.size()); ++look) {
    const auto place =
        entries_.begin() + static_cast<std::ptrdiff_t>((random + look) % entries_.size());
    if (!place->known_to.insert(worker).second) continue;
    Trap trap = place->trap;
    if (place->known_to.size() >= workers_max) entries_.erase(place);
    return trap;
  }
  return {};
}

void TrapPool::remove_job(const JobId& job) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.trap.task.job == job; });
}

}  // namespace weft::trust
