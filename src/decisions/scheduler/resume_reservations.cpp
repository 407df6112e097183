#include "decisions/scheduler/resume_reservations.h"

#include <algorithm>
#include <ranges>

namespace weft::scheduler {

void ResumeReservations::reserve(const TaskId& task, const PublicKey& worker, Instant until) {
  reserved_[task][worker] = until;
}

void ResumeReservations::release(const TaskId& task, const PublicKey& worker) {
  const auto found = reserved_.find(task);
  if (found == reserved_.end()) return;
  found->second.erase(worker);
  if (found->second.empty()) reserved_.erase(found);
}

void ResumeReservations::release(const TaskId& task) { reserved_.erase(task); }

std::vector<TaskId> ResumeReservations::release_all(const PublicKey& worker) {
  std::vector<TaskId> released;
  for (auto each = reserved_.begin(); each != reserved_.end();) {
    if (each->second.erase(worker) > 0) released.push_back(each->first);
    each = each->second.empty() ? reserved_.erase(each) : std::next(each);
  }
  return released;
}

void ResumeReservations::drop_expired(const TaskId& task, Instant now) {
  const auto found = reserved_.find(task);
  if (found == reserved_.end()) return;
  std::erase_if(found->second, [&](const auto& each) { return each.second <= now; });
  if (found->second.empty()) reserved_.erase(found);
}

bool ResumeReservations::has(const TaskId& task, const PublicKey& worker) const {
  const auto found = reserved_.find(task);
  return found != reserved_.end() && found->second.contains(worker);
}

std::size_t ResumeReservations::count(const TaskId& task) const {
  const auto found = reserved_.find(task);
  return found == reserved_.end() ? 0 : found->second.size();
}

std::optional<Instant> ResumeReservations::ends(const TaskId& task) const {
  const auto found = reserved_.find(task);
  if (found == reserved_.end()) return {};
  return std::ranges::max(found->second | std::views::values);
}

std::vector<TaskId> ResumeReservations::of(const JobId& job, const PublicKey& worker) const {
  std::vector<TaskId> tasks;
  for (auto each = reserved_.lower_bound({.job = job, .index = 0});
       each != reserved_.end() && each->first.job == job; ++each) {
    if (each->second.contains(worker)) tasks.push_back(each->first);
  }
  return tasks;
}

}  // namespace weft::scheduler
