#include "decisions/scheduler/worker_events.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace weft::scheduler {
namespace {

// The most slots of one worker, which bounds the length of a Lease message.
constexpr std::uint32_t slots_max = 1024;

// The rate of a worker when it joins. A worker that has measured nothing itself starts with a small
// part of the reference, so that it first gets small shares.
double first_rate(const protocol::Capabilities& capabilities) {
  if (std::isfinite(capabilities.f32_gflop_per_s) && capabilities.f32_gflop_per_s > 0)
    return std::clamp(capabilities.f32_gflop_per_s / 1000, 1e-4, 1000.0);
  return capabilities.device == protocol::DeviceKind::gpu ? 0.1 : 0.02;
}

}  // namespace

Result<> WorkerEvents::add(const Worker& worker, Instant now) {
  tables_.reach(now);
  if (tables_.workers.contains(worker.key))
    return fail(ErrorCode::already_exists, "The worker {} is connected already.",
                worker.key.text());
  auto made = std::make_unique<WorkerState>();
  made->info = worker;
  made->info.slots = std::min(worker.slots, slots_max);
  made->info.price_min = PriceFloors::step(worker.price_min);
  made->rate_said = parts_.members.says(worker.standing) ? first_rate(worker.capabilities)
                                                         : parts_.members.assumed_rate();
  made->ranks_last = made->newcomer() && tables_.settings.safeguards.newcomers_rank_last;
  made->rate = made->rate_said;
  made->heard = now;
  WorkerState& added = tables_.workers.add(std::move(made));
  added.presence = &tables_.histories.arrives(worker.key, !added.newcomer(), now);
  tables_.classes.enter(added);
  parts_.members.enter(added);
  return {};
}

void WorkerEvents::remove(const PublicKey& worker, Departure departure, Instant now) {
  tables_.reach(now);
  WorkerState* found = tables_.workers.find(worker);
  if (found == nullptr) return;
  const bool left = departure == Departure::left;
  parts_.removal.disconnect(
      *found, left ? Blame::none : Blame::gone,
      {ErrorCode::unavailable, left ? "The worker left." : "The connection to the worker broke."},
      now);
}

void WorkerEvents::set_slots(const PublicKey& worker, std::uint32_t slots) {
  if (WorkerState* found = tables_.workers.find(worker))
    parts_.members.set_slots(*found, std::min(slots, slots_max));
}

void WorkerEvents::set_standing(const PublicKey& worker, Standing standing) {
  if (WorkerState* found = tables_.workers.find(worker))
    parts_.members.set_standing(*found, standing);
}

void WorkerEvents::set_leases_max(const PublicKey& worker, std::uint32_t leases,
                                  double sample_share) {
  WorkerState* found = tables_.workers.find(worker);
  if (found == nullptr) return;
  found->sample_share = std::clamp(sample_share, 0.0, 1.0);
  if (found->leases_max == leases) return;
  const bool more = leases > found->leases_max;
  found->leases_max = leases;
  parts_.listings.list(*found);
  if (more) tables_.agenda.mark(*found);
}

void WorkerEvents::heard(const PublicKey& worker, Instant now) {
  tables_.reach(now);
  WorkerState* found = tables_.workers.find(worker);
  if (found != nullptr)
    // Only the time is noted: the worker's deadline is computed again when it comes.
    found->heard = std::max(found->heard, now);
}

bool WorkerEvents::is_wanted_again(const WorkerState& worker, const protocol::HeldTask& held,
                                   Instant now) {
  JobState* job = tables_.jobs.find(held.task.job);
  if (job == nullptr || held.task.index >= job->spec.tasks || job->settled[held.task.index] ||
      worker.running.size() >= worker.info.slots)
    return false;
  if (!std::ranges::contains(worker.classes, job->requirements) ||
      job->canary == CanaryState::leased || worker.info.price_min > job->per_unit)
    return false;
  if ((job->canary == CanaryState::waiting && job->spec.kind == manifest::Kind::wgsl &&
       !worker.native()) ||
      parts_.choice.keeps_from(worker, *job, now))
    return false;  // The task waits in the queue for another worker.
  TaskState* task = tables_.jobs.find_task(held.task);
  return task == nullptr || (task->missing() && task->replica_of(worker.info.key) == nullptr);
}

std::vector<protocol::HeldTask> WorkerEvents::resume(const PublicKey& worker,
                                                     std::span<const protocol::HeldTask> held,
                                                     Instant now) {
  tables_.reach(now);
  WorkerState* found = tables_.workers.find(worker);
  if (found == nullptr) return {};
  found->heard = std::max(found->heard, now);
  std::vector<protocol::HeldTask> taken;
  Cancel cancel{.worker = worker, .tasks = {}, .reason = "The task is settled or runs elsewhere."};
  for (const protocol::HeldTask& each : held) {
    TaskState* task = tables_.jobs.find_task(each.task);
    const ReplicaOf* replica = task == nullptr ? nullptr : task->replica_of(worker);
    if (replica != nullptr && replica->attempt == each.attempt &&
        replica->state == ReplicaState::leased) {
      taken.push_back(each);  // The worker has this lease already.
    } else if (is_wanted_again(*found, each, now)) {
      parts_.leases.give(*found, tables_.jobs.at(each.task.job), each.task.index, each.attempt,
                         now);
      taken.push_back(each);
    } else {
      cancel.tasks.push_back(each);
    }
  }
  if (!cancel.tasks.empty()) tables_.out.push_back(std::move(cancel));
  return taken;
}

}  // namespace weft::scheduler
