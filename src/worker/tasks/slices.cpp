#include "worker/tasks/slices.h"

#include <algorithm>
#include <cmath>

namespace weft::worker {

std::map<PublicKey, Slices::Client>::const_iterator Slices::least() const {
  return std::ranges::min_element(clients_, {},
                                  [](const auto& entry) { return entry.second.virtual_seconds; });
}

Result<> Slices::admit(const Resident& resident) {
  if (tasks_.contains(resident.task))
    return fail(ErrorCode::already_exists, "The task {} runs on this worker already.",
                resident.task.text());
  if (!std::isfinite(resident.weight) || resident.weight <= 0)
    return fail(ErrorCode::invalid_argument, "The weight of a task must be above 0; it is {}.",
                resident.weight);
  if (tasks_.size() >= settings_.slots)
    return fail(ErrorCode::resource_exhausted, "All {} slots of this worker are in use.",
                settings_.slots);
  if (resident.memory_bytes > settings_.memory_bytes - used_) {
    return fail(ErrorCode::resource_exhausted,
                "The task needs {} bytes of memory; {} of {} are free.", resident.memory_bytes,
                settings_.memory_bytes - used_, settings_.memory_bytes);
  }
  const double level = clients_.empty() ? 0 : least()->second.virtual_seconds;
  const auto [client, is_new] = clients_.try_emplace(resident.client);
  if (is_new) client->second.virtual_seconds = level;
  client->second.weight = resident.weight;
  client->second.turns.push_back(resident.task);
  used_ += resident.memory_bytes;
  tasks_.emplace(resident.task, resident);
  return {};
}

void Slices::end(const TaskId& id) {
  const auto task = tasks_.find(id);
  if (task == tasks_.end()) return;
  const auto client = clients_.find(task->second.client);
  std::erase(client->second.turns, id);
  if (client->second.turns.empty()) clients_.erase(client);
  used_ -= task->second.memory_bytes;
  tasks_.erase(task);
}

std::optional<Slices::Slice> Slices::next() const {
  if (clients_.empty()) return {};
  return Slice{.task = least()->second.turns.front(), .length = settings_.slice};
}

void Slices::ran(const TaskId& id, Duration took) {
  const auto task = tasks_.find(id);
  if (task == tasks_.end()) return;
  Client& client = clients_.at(task->second.client);
  client.virtual_seconds += std::max(seconds(took), 0.0) / client.weight;
  std::erase(client.turns, id);
  client.turns.push_back(id);
}

}  // namespace weft::worker
