#include "decisions/jobs/held_pay.h"

#include <algorithm>
#include <chrono>

namespace weft::jobs {

Instant HeldPays::minute_of(Instant free_at) {
  return Instant(std::chrono::ceil<std::chrono::minutes>(free_at.time_since_epoch()));
}

void HeldPays::add(const Entry& entry, Instant free_at) {
  const Key key{.free_at = minute_of(free_at), .worker = entry.worker, .owner = entry.owner};
  Entry& sum = entries_.try_emplace(key).first->second;
  sum.worker = entry.worker;
  sum.owner = entry.owner;
  sum.funds.free += entry.funds.free;
  sum.funds.granted += entry.funds.granted;
  sum.parts.insert(sum.parts.end(), entry.parts.begin(), entry.parts.end());
  for (const Part& part : entry.parts) ++tasks_[part.paid->task];
}

void HeldPays::forget(const Part& part) {
  const auto found = tasks_.find(part.paid->task);
  if (found != tasks_.end() && --found->second == 0) tasks_.erase(found);
}

std::vector<HeldPays::Entry> HeldPays::take_free(Instant now) {
  std::vector<Entry> taken;
  while (!entries_.empty() && entries_.begin()->first.free_at <= now) {
    taken.push_back(entries_.begin()->second);
    for (const Part& part : taken.back().parts) forget(part);
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
    if (!its) return false;
    taken.push_back(entry);
    for (const Part& part : entry.parts) forget(part);
    return true;
  });
  return taken;
}

void HeldPays::postpone(const TaskId& task, Instant free_at) {
  std::vector<Entry> postponed;
  for (auto each = entries_.begin(); each != entries_.end();) {
    Entry& entry = each->second;
    if (each->first.free_at >= minute_of(free_at)) break;
    std::erase_if(entry.parts, [&](const Part& part) {
      if (part.paid->task != task) return false;
      forget(part);
      entry.funds.free -= part.funds.free;
      entry.funds.granted -= part.funds.granted;
      postponed.push_back(
          {.worker = entry.worker, .owner = entry.owner, .funds = part.funds, .parts = {part}});
      return true;
    });
    each = entry.funds.total() == 0 && entry.parts.empty() ? entries_.erase(each) : std::next(each);
  }
  for (const Entry& each : postponed) add(each, free_at);
}

bool HeldPays::holds_for(const PublicKey& client) const {
  return std::ranges::any_of(entries_, [&](const auto& each) {
    return std::ranges::any_of(each.second.parts,
                               [&](const Part& part) { return part.paid->client == client; });
  });
}

std::optional<Instant> HeldPays::next() const {
  if (entries_.empty()) return {};
  return entries_.begin()->first.free_at;
}

}  // namespace weft::jobs
