#include "decisions/scheduler/job_state.h"

#include <algorithm>

namespace weft::scheduler {

ReplicaOf* TaskState::replica_of(const PublicKey& worker) {
  const auto found = std::ranges::find(replicas, worker, &ReplicaOf::worker);
  return found == replicas.end() ? nullptr : &*found;
}

std::size_t JobState::able(std::size_t side) const {
  return requirements->floors[side].within(per_unit);
}

std::size_t JobState::trusted_able(std::size_t side) const {
  return requirements->trusted_floors[side].within(per_unit);
}

PriceTerms JobState::price_terms() const {
  return {.budget = spec.budget,
          .quoted = spec.price_quoted,
          .max = spec.price_max,
          .capped = spec.price_capped};
}

// Cuts ranges as manifest::task_range does: the first ranges take the remainder.
std::uint32_t JobState::range_first(std::uint32_t index) const {
  return index * (spec.workgroups / spec.tasks) + std::min(index, spec.workgroups % spec.tasks);
}
std::uint32_t JobState::range_count(std::uint32_t index) const {
  return spec.workgroups / spec.tasks + (index < spec.workgroups % spec.tasks ? 1U : 0U);
}

bool JobState::has_fresh() {
  fresh = next_fresh();
  return fresh < spec.tasks;
}

std::uint32_t JobState::next_fresh() const {
  std::uint32_t next = fresh;
  while (next < spec.tasks && (settled[next] || tasks.contains(next))) ++next;
  return next;
}

TaskState& JobState::touch(std::uint32_t index) {
  const auto [place, is_new] = tasks.try_emplace(index);
  if (is_new) place->second.wanted = spec.replicas_first == 0 ? spec.replicas : spec.replicas_first;
  return place->second;
}

void JobState::reopen(std::uint32_t index, TaskState& task) {
  close(task);
  if (!task.missing()) return;
  task.open_sequence = next_sequence++;
  open[task.open_sequence] = index;
}

void JobState::close(TaskState& task) {
  if (task.open_sequence != 0) open.erase(task.open_sequence);
  task.open_sequence = 0;
}

std::vector<double> values_of(std::span<const std::pair<PublicKey, double>> paces) {
  std::vector<double> values;
  for (const auto& [worker, pace] : paces) values.push_back(pace);
  return values;
}

}  // namespace weft::scheduler
