#include "decisions/jobs/scheduling.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/base/log.h"
#include "decisions/jobs/extra_leases.h"
#include "decisions/jobs/lease_proof.h"

namespace weft::jobs {

void Scheduling::decide(Moment now) {
  for (auto decisions = tables_.scheduler.decide(now.at); !decisions.empty();
       decisions = tables_.scheduler.decide(now.at)) {
    for (auto& decision : decisions) std::visit([&](auto& each) { act(each, now); }, decision);
  }
}

void Scheduling::act(scheduler::Lease& lease, Moment now) {
  RunningJob* const job = tables_.jobs.find(lease.job);
  if (job == nullptr) return;
  for (const auto& task : lease.tasks) {
    job->leased[task.index].insert(lease.worker);
    parts_.watch.leased(*job, task.index, now);
  }
  tables_.counters.leases_granted += lease.tasks.size();
  for (auto& task : lease.tasks) {
    task.proof = lease_proof(tables_.settings.secret, LeaseKind::task,
                             {.job = lease.job, .index = task.index}, task.attempt, lease.worker);
  }
  protocol::Lease made{.job = lease.job,
                       .manifest = job->row.manifest_hash,
                       .piece_workgroups_max = lease.piece_workgroups_max,
                       .wall_ms_max = lease.wall_ms_max,
                       .tasks = std::move(lease.tasks),
                       .checkpoint_ms = lease.checkpoint_ms};
  parts_.checkpoints.add_resume_points(made, lease.worker);
  ask_for_roots(made, *job, lease.worker, now);
  const auto leased = made.tasks;
  add_client(made, lease.worker);
  tables_.workers.send_early(lease.worker, std::move(made));
  if (job->refereed) parts_.checks.leased(lease.job, lease.worker, leased, now);
}

void Scheduling::act(scheduler::Cancel& cancel, Moment) {
  for (const auto& held : cancel.tasks) {
    RunningJob* const job = tables_.jobs.find(held.task.job);
    if (job != nullptr) job->leased[held.task.index].erase(cancel.worker);
    tables_.board.touch(held.task);
  }
  tables_.workers.send(cancel.worker, protocol::Cancel{.tasks = std::move(cancel.tasks),
                                                       .reason = std::move(cancel.reason)});
}

void Scheduling::act(const scheduler::Yield& yield, Moment) {
  tables_.workers.send(yield.worker, protocol::Yield{.tasks = {yield.task}});
}

void Scheduling::act(const scheduler::LeaseLost& lost, Moment) {
  ++tables_.counters.leases_lost;
  tables_.trust.lost(lost.task, lost.worker);
  if (RunningJob* const job = tables_.jobs.find(lost.task.job); job != nullptr) {
    job->leased[lost.task.index].erase(lost.worker);
    auto& delivered = job->delivered[lost.task.index];
    if (const auto found = delivered.find(lost.worker);
        found != delivered.end() && !found->second.counted)
      delivered.erase(found);
    tables_.board.touch(lost.task);
  }
  log_debug("Task {} is lost on {}: {}", lost.task.text(), lost.worker.text(), lost.reason);
}

void Scheduling::act(const scheduler::WorkerLost& lost, Moment now) {
  const ConnectedWorker* const worker = tables_.workers.find(lost.worker);
  if (worker == nullptr) return;
  tables_.workers.close(worker->session, ErrorCode::deadline_exceeded, lost.reason);
  parts_.sessions.disconnect(lost.worker, now);
}

void Scheduling::act(const scheduler::Estimated& estimated, Moment) {
  RunningJob* const job = tables_.jobs.find(estimated.job);
  if (job == nullptr) return;
  parts_.payments.set_price(*job, estimated.estimate);
  tables_.trust.set_value(estimated.job, replica_value(tables_, *job));
}

void Scheduling::act(const scheduler::Measured& measured, Moment now) {
  parts_.prices.note_measured(measured, now);
}

void Scheduling::act(const scheduler::CanaryWanted& wanted, Moment) {
  parts_.canaries.order(wanted.job);
}

void Scheduling::act(const scheduler::NoWorkerLeft& starved, Moment now) {
  parts_.rulings.carry_out(tables_.trust.give_up(starved.task, now.unix), now);
}

void Scheduling::act(const scheduler::JobFailed& ended, Moment now) {
  parts_.life.fail_with(ended.job, ended.reason.message, now);
}

void Scheduling::ask_for_roots(protocol::Lease& lease, RunningJob& job, const PublicKey& worker,
                               Moment now) const {
  const ConnectedWorker* const taker = tables_.workers.find(worker);
  for (protocol::LeasedTask& task : lease.tasks) {
    // A worker that continues from a checkpoint has no states before it.
    task.step_roots =
        taker != nullptr && parts_.roots.asks(job, *taker, task.index, now) &&
        !std::ranges::contains(lease.resume, task.index, &protocol::ResumePoint::index);
    if (task.step_roots) job.roots_asked[task.index].insert_or_assign(worker, task.attempt);
  }
}

void Scheduling::add_client(protocol::Lease& lease, const PublicKey& worker) const {
  const ConnectedWorker* const taker = tables_.workers.find(worker);
  const RunningJob* const job = tables_.jobs.find(lease.job);
  if (taker == nullptr || job == nullptr || taker->hello.slice_memory_bytes == 0) return;
  lease.client = job->row.client;
  lease.weight = parts_.weights.of(lease.client);
}

}  // namespace weft::jobs
