#include "decisions/scheduler/scheduler.h"

#include <algorithm>

#include "decisions/scheduler/matcher.h"
#include "decisions/scheduler/scheduler_parts.h"

namespace weft::scheduler {

Scheduler::Scheduler(Settings settings) : parts_(std::make_unique<SchedulerParts>(settings)) {}
Scheduler::~Scheduler() = default;

Result<> Scheduler::add_worker(const Worker& worker, Instant now) {
  return parts_->worker_events.add(worker, now);
}

void Scheduler::remove_worker(const PublicKey& worker, Departure departure, Instant now) {
  parts_->worker_events.remove(worker, departure, now);
}

void Scheduler::set_slots(const PublicKey& worker, std::uint32_t slots) {
  parts_->worker_events.set_slots(worker, slots);
}

void Scheduler::set_standing(const PublicKey& worker, Standing standing) {
  parts_->worker_events.set_standing(worker, standing);
}

void Scheduler::set_leases_max(const PublicKey& worker, std::uint32_t leases, double sample_share) {
  parts_->worker_events.set_leases_max(worker, leases, sample_share);
}

void Scheduler::heard(const PublicKey& worker, Instant now) {
  parts_->worker_events.heard(worker, now);
}

std::vector<protocol::HeldTask> Scheduler::resume(const PublicKey& worker,
                                                  std::span<const protocol::HeldTask> held,
                                                  Instant now) {
  return parts_->worker_events.resume(worker, held, now);
}

Result<> Scheduler::add_job(const Job& job, Instant now, std::span<const TaskProgress> progress) {
  return parts_->job_events.add(job, now, progress);
}

void Scheduler::remove_job(const JobId& job, std::string_view reason) {
  parts_->job_events.remove(job, reason);
}

void Scheduler::set_share(const PublicKey& client, double weight) {
  parts_->tables.clients.set_weight(client, weight);
}

Result<> Scheduler::result(const TaskResult& result, Instant now) {
  return parts_->task_events.result(result, now);
}

void Scheduler::awaits_receipt_from(const TaskId& task, const PublicKey& worker, Instant then) {
  parts_->task_events.awaits_receipt_from(task, worker, then);
}

void Scheduler::counted(const TaskId& task, const PublicKey& worker) {
  parts_->task_events.counted(task, worker);
}

Result<> Scheduler::failed(const TaskId& task, const PublicKey& worker, std::uint32_t attempt,
                           const Error& error, Instant now) {
  return parts_->task_events.failed(task, worker, attempt, error, now);
}

Result<> Scheduler::checkpointed(const TaskCheckpoint& checkpoint, Instant now) {
  return parts_->making_way.checkpointed(checkpoint, now);
}

void Scheduler::settled(const TaskId& task, std::span<const PublicKey> by) {
  parts_->task_events.settled(task, by);
}

void Scheduler::bar(const TaskId& task, const PublicKey& worker, Barred from) {
  parts_->task_events.bar(task, worker, from);
}

void Scheduler::want_replicas(const TaskId& task, std::uint32_t replicas) {
  parts_->task_events.want_replicas(task, replicas);
}

CheckReports& Scheduler::checks() { return parts_->checks; }
WorkerHistories& Scheduler::histories() { return parts_->tables.histories; }
const SchedulerViews& Scheduler::views() const { return parts_->views; }

std::vector<Decision> Scheduler::decide(Instant now) {
  SchedulerTables& tables = parts_->tables;
  tables.reach(now);
  parts_->expiry.expire(now);
  parts_->charges.refresh(now);
  parts_->samples.look_again(now);
  do {
    match(tables, parts_->worker_choice, now);
    parts_->making_way.look(now);
  } while (!tables.agenda.empty());  // A promise or a run that made way marked further jobs.
  return tables.out.take();
}

std::optional<Instant> Scheduler::next_deadline() const {
  std::optional<Instant> next = parts_->tables.deadlines.next();
  for (const auto at : {parts_->making_way.next_look(), parts_->samples.next_look()}) {
    if (at) next = next ? std::min(*next, *at) : *at;
  }
  return next;
}

}  // namespace weft::scheduler
