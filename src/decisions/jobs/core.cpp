#include "decisions/jobs/core.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/base/match.h"
#include "decisions/jobs/core_state.h"
#include "decisions/jobs/lease_proof.h"

namespace weft::jobs {

Core::Core(Parts parts, CoreSettings settings)
    : state_(std::make_unique<State>(parts, std::move(settings))) {}
Core::~Core() = default;

void Core::flush(Moment now) {
  State& state = *state_;
  if (state.outbox.is_broken()) return;
  state.scheduler.set_clock(now.at, now.unix);
  state.latest = now;
  state.decide(now);
  state.sessions.end_suspensions(now);
  state.warn_of_lag(now);
  state.free_held_pay(now);
  state.go_on_rechecking(now);
  state.forget_checks(now);
  state.standings.store(now);
  state.presence.store(now);
  state.watch.keep_history(now);
  state.prices.observe_season(now);
  state.outbox.flush();
}

std::optional<Instant> Core::next_deadline() const {
  const auto leases = state_->scheduler.next_deadline();
  const auto extras = state_->extras_deadline();
  auto next = leases && extras ? std::min(*leases, *extras) : (leases ? leases : extras);
  if (const auto ends = state_->sessions.next_suspension_end()) {
    const auto left = std::chrono::milliseconds(
        std::clamp<UnixMillis>(*ends - state_->latest.unix, 0, 3'600'000));
    next = next ? std::min(*next, state_->latest.at + left) : state_->latest.at + left;
  }
  if (const auto held = state_->held_pays.next()) next = next ? std::min(*next, *held) : *held;
  return next;
}
void Core::State::decide(Moment now) {
  expire_extras(now);
  // Acting on a decision (a job that ends, a replica that is given up) may decide more.
  for (auto decisions = scheduler.decide(now.at); !decisions.empty();
       decisions = scheduler.decide(now.at)) {
    for (auto& decision : decisions) act(std::move(decision), now);
  }
}
// Workers that run several tasks at a time are told between whom, and at which weight.
void Core::State::add_client(protocol::Lease& lease, const PublicKey& worker) const {
  const auto taker = workers.all().find(worker);
  const RunningJob* const job = jobs.find(lease.job);
  if (taker == workers.all().end() || job == nullptr || taker->second.hello.slice_memory_bytes == 0)
    return;
  lease.client = job->row.client;
  lease.weight = weights.of(lease.client);
}

void Core::State::act(scheduler::Decision decision, Moment now) {
  std::visit(
      Match{[&](scheduler::Lease& lease) {
              auto* const job = jobs.find(lease.job);
              if (job == nullptr) return;
              for (const auto& task : lease.tasks) {
                job->leased[task.index].insert(lease.worker);
                watch.leased(*job, task.index, now);
              }
              counters.leases_granted += lease.tasks.size();
              for (auto& task : lease.tasks) {
                task.proof = lease_proof(settings.secret, LeaseKind::task,
                                         {.job = lease.job, .index = task.index}, task.attempt,
                                         lease.worker);
              }
              const auto leased = lease.tasks;
              protocol::Lease made{.job = lease.job,
                                   .manifest = job->row.manifest_hash,
                                   .piece_workgroups_max = lease.piece_workgroups_max,
                                   .wall_ms_max = lease.wall_ms_max,
                                   .tasks = std::move(lease.tasks),
                                   .checkpoint_ms = lease.checkpoint_ms};
              checkpoints.add_resume_points(made, lease.worker);
              add_client(made, lease.worker);
              workers.send_early(lease.worker, std::move(made));
              if (job->refereed) tell_leased(lease.job, lease.worker, leased, now);
            },
            [&](scheduler::Cancel& cancel) {
              for (const auto& held : cancel.tasks) {
                auto* const job = jobs.find(held.task.job);
                if (job != nullptr) job->leased[held.task.index].erase(cancel.worker);
                board.touch(held.task);
              }
              workers.send(cancel.worker, protocol::Cancel{.tasks = std::move(cancel.tasks),
                                                           .reason = std::move(cancel.reason)});
            },
            [&](const scheduler::Yield& yield) {
              workers.send(yield.worker, protocol::Yield{.tasks = {yield.task}});
            },
            [&](const scheduler::LeaseLost& lost) {
              ++counters.leases_lost;
              trust.lost(lost.task, lost.worker);
              auto* const job = jobs.find(lost.task.job);
              if (job != nullptr) {
                job->leased[lost.task.index].erase(lost.worker);
                auto& delivered = job->delivered[lost.task.index];
                if (const auto found = delivered.find(lost.worker);
                    found != delivered.end() && !found->second.counted)
                  delivered.erase(found);
                board.touch(lost.task);
              }
              log_debug("Task {} is lost on {}: {}", lost.task.text(), lost.worker.text(),
                        lost.reason);
            },
            [&](const scheduler::WorkerLost& lost) {
              const ConnectedWorker* const found = workers.find(lost.worker);
              if (found == nullptr) return;
              workers.close(found->session, ErrorCode::deadline_exceeded, lost.reason);
              sessions.disconnect(lost.worker, now);
            },
            [&](const scheduler::Estimated& estimated) {
              auto* const job = jobs.find(estimated.job);
              if (job == nullptr) return;
              payments.set_price(*job, estimated.estimate);
              trust.set_value(estimated.job, replica_value(*job));
            },
            [&](const scheduler::Measured& measured) { prices.note_measured(measured, now); },
            [&](const scheduler::CanaryWanted& wanted) { measure_canary(wanted.job); },
            [&](const scheduler::NoWorkerLeft& starved) {
              act(trust.give_up(starved.task, now.unix), now);
            },
            [&](const scheduler::JobFailed& ended) {
              life.fail_with(ended.job, ended.reason.message, now);
            }},
      decision);
}

}  // namespace weft::jobs
