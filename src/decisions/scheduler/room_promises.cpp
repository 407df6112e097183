#include "decisions/scheduler/room_promises.h"

#include <algorithm>
#include <utility>

namespace weft::scheduler {
namespace {

Duration duration_of(double seconds) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(std::min(seconds, 1e6)));
}

Room room_of(const WorkerState& worker) {
  return {.memory_bytes = worker.info.capabilities.memory_bytes, .slots = worker.info.slots};
}

}  // namespace

std::vector<Occupant> RoomPromises::occupants(const WorkerState& worker) const {
  std::vector<Occupant> found;
  for (const Holding& each : worker.running) {
    // A canary, whose length is not known, is assumed to take until its time limit.
    const double takes = each.seconds > 0 ? each.seconds : seconds(tables_.settings.wall_max);
    found.push_back(
        {.ends = each.since + duration_of(takes), .memory_bytes = partition_of(worker, *each.job)});
  }
  return found;
}

std::uint64_t RoomPromises::partition_of(const WorkerState& worker, const JobState& job) {
  return std::max(job.spec.requirements.memory_bytes, worker.info.slice_memory_bytes);
}

bool RoomPromises::has_memory(const WorkerState& worker, const JobState& job) const {
  std::uint64_t held = partition_of(worker, job);
  for (const Holding& each : worker.running) held += partition_of(worker, *each.job);
  return held <= worker.info.capabilities.memory_bytes;
}

bool RoomPromises::admits(const WorkerState& worker, const JobState& job, std::uint32_t index,
                          Instant now) const {
  if (!worker.sliced()) return true;
  if (!has_memory(worker, job)) return false;
  if (worker.promised == nullptr || worker.promised == &job || job.rank < worker.promised->rank)
    return true;
  const double takes = job.canary == CanaryState::passed
                           ? prospects_.predicted_seconds(worker, job, index)
                           : seconds(tables_.settings.wall_max);
  return may_backfill(
      room_of(worker), occupants(worker), worker.promise,
      {.ends = now + duration_of(takes), .memory_bytes = partition_of(worker, job)});
}

void RoomPromises::promise(JobState& job, Instant now) {
  RequirementClass& asked = *job.requirements;
  if (asked.sliced.empty() || job.promised != nullptr) return;
  if (asked.promised != nullptr) {
    if (asked.promised->rank < job.rank) return;
    withdraw(*asked.promised);
  }
  WorkerState* best = nullptr;
  Instant start;
  for (auto& [sequence, worker] : asked.sliced) {
    const auto index = worker->info.slots == 0 ? std::nullopt : choice_.task_for(*worker, job, now);
    if (!index || !prospects_.suits(*worker, job, *index, now)) continue;
    if (worker->promised != nullptr && worker->promised->rank < job.rank)
      continue;  // A job of another class, which comes first, has it.
    const auto there = occupants(*worker);
    const auto earliest = earliest_start(room_of(*worker), there, partition_of(*worker, job), now);
    if (earliest && (best == nullptr || *earliest < start)) {
      best = worker;
      start = *earliest;
    }
  }
  if (best == nullptr) return;
  if (best->promised != nullptr) withdraw(*best->promised);
  best->promised = &job;
  best->promise = {.start = start, .memory_bytes = partition_of(*best, job)};
  job.promised = best;
  asked.promised = &job;
}

void RoomPromises::renew(WorkerState& worker, Instant now) {
  const auto there = occupants(worker);
  const auto earliest = earliest_start(room_of(worker), there, worker.promise.memory_bytes, now);
  if (!earliest || *earliest <= worker.promise.start) return;
  worker.promise.start = *earliest;
  tables_.agenda.mark(worker);  // Other tasks have more time now.
}

void RoomPromises::withdraw(JobState& job) {
  if (job.promised == nullptr) return;
  WorkerState& worker = *std::exchange(job.promised, nullptr);
  worker.promised = nullptr;
  job.requirements->promised = nullptr;
  // Without the promise the worker may get other tasks again.
  if (!worker.gone) tables_.agenda.mark(worker);
}

}  // namespace weft::scheduler
