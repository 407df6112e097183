#include "decisions/scheduler/reservation.h"

#include <algorithm>
#include <vector>

namespace weft::scheduler {

std::optional<Instant> earliest_start(const Room& room, std::span<const Occupant> occupants,
                                      std::uint64_t memory_bytes, Instant now) {
  if (room.memory_bytes < memory_bytes || room.slots == 0) return {};
  std::vector<Occupant> by_end(occupants.begin(), occupants.end());
  std::ranges::sort(by_end, {}, &Occupant::ends);
  std::uint64_t held = 0;
  for (const Occupant& each : by_end) held += each.memory_bytes;
  std::size_t count = by_end.size();
  Instant start = now;
  for (const Occupant& each : by_end) {
    if (count < room.slots && held + memory_bytes <= room.memory_bytes) break;
    start = std::max(now, each.ends);
    held -= each.memory_bytes;
    --count;
  }
  return start;
}

bool may_backfill(const Room& room, std::span<const Occupant> occupants, const Promise& promise,
                  const Occupant& task) {
  if (task.ends <= promise.start) return true;
  std::uint64_t held = task.memory_bytes + promise.memory_bytes;
  std::size_t count = 2;
  for (const Occupant& each : occupants) {
    if (each.ends <= promise.start) continue;
    held += each.memory_bytes;
    ++count;
  }
  return held <= room.memory_bytes && count <= room.slots;
}

}  // namespace weft::scheduler
