#include "decisions/jobs/held_pay.h"

#include <algorithm>
#include <chrono>

namespace weft::jobs {

void HeldPays::add(const Entry& entry, Instant free_at) {
  const auto minute = std::chrono::ceil<std::chrono::minutes>(free_at.time_since_epoch());
  Entry& sum = entries_.try_emplace({Instant(minute), entry.worker}, Entry{}).first->second;
  sum.worker = entry.worker;
  sum.owner = entry.owner;
  sum.funds.free += entry.funds.free;
  sum.funds.granted += entry.funds.granted;
  sum.parts.insert(sum.parts.end(), entry.parts.begin(), entry.parts.end());
}

std::vector<HeldPays::Entry> HeldPays::take_free(Instant now) {
  std::vector<Entry> taken;
  while (!entries_.empty() && entries_.begin()->first.first <= now) {
    taken.push_back(entries_.begin()->second);
    entries_.erase(entries_.begin());
  }
  return taken;
}

std::vector<HeldPays::Entry> HeldPays::take_of(const PublicKey& worker, const OwnerId& owner) {
  const PublicKey unknown{};
  std::vector<Entry> taken;
  std::erase_if(entries_, [&](const auto& each) {
    const Entry& entry = each.second;
    const bool its = entry.worker == worker || (entry.worker == unknown && entry.owner == owner);
    if (its) taken.push_back(entry);
    return its;
  });
  return taken;
}

bool HeldPays::holds_for(const PublicKey& client) const {
  return std::ranges::any_of(entries_, [&](const auto& each) {
    return std::ranges::any_of(each.second.parts,
                               [&](const Part& part) { return part.paid->client == client; });
  });
}

std::optional<Instant> HeldPays::next() const {
  if (entries_.empty()) return {};
  return entries_.begin()->first.first;
}

}  // namespace weft::jobs
