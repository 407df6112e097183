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
  if (state.broken) return;
  state.scheduler.set_clock(now.at, now.unix);
  state.at_now = now.at;
  state.unix_now = now.unix;
  state.decide(now);
  state.end_suspensions(now);
  state.warn_of_lag(now);
  state.free_held_pay(now);
  state.go_on_rechecking(now);
  state.forget_checks(now);
  state.store_standings(now);
  state.store_presence(now);
  state.keep_history(now);
  state.observe_season(now);
  if (state.flights.size() >= state.settings.commits_in_flight_max)
    return;  // Lands soon, and then flushes.
  if (state.batch.empty() && state.effects.empty()) return;
  auto& flight = state.flights.emplace_back();
  flight.number = state.flight_next++;
  flight.effects = std::exchange(state.effects, {});
  if (state.batch.empty()) {
    flight.durable = true;
    return state.land();
  }
  ++state.counters.commits;
  state.parts.world.commit(std::exchange(state.batch, {}),
                           [this, number = flight.number](Result<> done) {
                             State& core = *state_;
                             if (!done) {
                               core.broken = true;
                               return core.parts.world.fatal(done.error());
                             }
                             for (auto& waiting : core.flights) {
                               if (waiting.number == number) waiting.durable = true;
                             }
                             core.land();
                           });
}

// Carries out what is durable, in order. Effects may be followed by events, not from inside.
void Core::State::land() {
  while (!broken && !flights.empty() && flights.front().durable) {
    const auto ready = std::move(flights.front().effects);
    flights.pop_front();
    for (const auto& work : ready) work();
  }
}

std::optional<Instant> Core::next_deadline() const {
  const auto leases = state_->scheduler.next_deadline();
  const auto extras = state_->extras_deadline();
  auto next = leases && extras ? std::min(*leases, *extras) : (leases ? leases : extras);
  if (!state_->suspensions.empty()) {
    const auto left = std::chrono::milliseconds(std::clamp<UnixMillis>(
        state_->suspensions.begin()->first - state_->unix_now, 0, 3'600'000));
    next = next ? std::min(*next, state_->at_now + left) : state_->at_now + left;
  }
  if (const auto held = state_->held_pays.next()) next = next ? std::min(*next, *held) : *held;
  return next;
}

void Core::State::send(const PublicKey& worker, protocol::CoordinatorMessage message) {
  const auto found = workers.find(worker);
  if (found == workers.end()) return;
  const bool in_order =
      !std::holds_alternative<protocol::Verdict>(message);  // A lease may come before one.
  if (in_order) ++found->second.waiting;
  effect([this, worker, session = found->second.session, in_order, sent = std::move(message)] {
    if (in_order) {
      if (const auto still = workers.find(worker);
          still != workers.end() && still->second.session == session)
        --still->second.waiting;
    }
    parts.world.send(session, sent);
  });
}

void Core::State::send_early(const PublicKey& worker, protocol::CoordinatorMessage message) {
  const auto found = workers.find(worker);
  if (found == workers.end() || broken) return;
  if (found->second.waiting > 0) return send(worker, std::move(message));
  parts.world.send(found->second.session, message);
}

void Core::State::decide(Moment now) {
  expire_extras(now);
  // Acting on a decision (a job that ends, a replica that is given up) may decide more.
  for (auto decisions = scheduler.decide(now.at); !decisions.empty();
       decisions = scheduler.decide(now.at)) {
    for (auto& decision : decisions) act(std::move(decision), now);
  }
}

void Core::State::act(scheduler::Decision decision, Moment now) {
  std::visit(Match{[&](scheduler::Lease& lease) {
                     const auto job = jobs.find(lease.job);
                     if (job == jobs.end()) return;
                     for (const auto& task : lease.tasks) {
                       job->second.leased[task.index].insert(lease.worker);
                       note_lease(job->second, task.index, now);
                     }
                     counters.leases_granted += lease.tasks.size();
                     for (auto& task : lease.tasks) {
                       task.proof = lease_proof(settings.secret, LeaseKind::task,
                                                {.job = lease.job, .index = task.index},
                                                task.attempt, lease.worker);
                     }
                     const auto leased = lease.tasks;
                     protocol::Lease made{.job = lease.job,
                                          .manifest = job->second.row.manifest_hash,
                                          .piece_workgroups_max = lease.piece_workgroups_max,
                                          .wall_ms_max = lease.wall_ms_max,
                                          .tasks = std::move(lease.tasks),
                                          .checkpoint_ms = lease.checkpoint_ms};
                     add_resume_points(made, lease.worker);
                     add_client(made, lease.worker);
                     send_early(lease.worker, std::move(made));
                     if (job->second.refereed) tell_leased(lease.job, lease.worker, leased, now);
                   },
                   [&](scheduler::Cancel& cancel) {
                     for (const auto& held : cancel.tasks) {
                       const auto job = jobs.find(held.task.job);
                       if (job != jobs.end())
                         job->second.leased[held.task.index].erase(cancel.worker);
                       board.touch(held.task);
                     }
                     send(cancel.worker, protocol::Cancel{.tasks = std::move(cancel.tasks),
                                                          .reason = std::move(cancel.reason)});
                   },
                   [&](const scheduler::Yield& yield) {
                     send(yield.worker, protocol::Yield{.tasks = {yield.task}});
                   },
                   [&](const scheduler::LeaseLost& lost) {
                     ++counters.leases_lost;
                     trust.lost(lost.task, lost.worker);
                     const auto job = jobs.find(lost.task.job);
                     if (job != jobs.end()) {
                       job->second.leased[lost.task.index].erase(lost.worker);
                       auto& delivered = job->second.delivered[lost.task.index];
                       if (const auto found = delivered.find(lost.worker);
                           found != delivered.end() && !found->second.counted)
                         delivered.erase(found);
                       board.touch(lost.task);
                     }
                     log_debug("Task {} is lost on {}: {}", lost.task.text(), lost.worker.text(),
                               lost.reason);
                   },
                   [&](const scheduler::WorkerLost& lost) {
                     const auto found = workers.find(lost.worker);
                     if (found == workers.end()) return;
                     effect([this, session = found->second.session, reason = lost.reason] {
                       parts.world.close(
                           session, {.code = std::string(to_string(ErrorCode::deadline_exceeded)),
                                     .message = reason});
                     });
                     disconnect(lost.worker, now);
                   },
                   [&](const scheduler::Estimated& estimated) {
                     const auto job = jobs.find(estimated.job);
                     if (job == jobs.end()) return;
                     set_price(job->second, estimated.estimate);
                     trust.set_value(estimated.job, replica_value(job->second));
                   },
                   [&](const scheduler::Measured& measured) { note_measured(measured, now); },
                   [&](const scheduler::CanaryWanted& wanted) { measure_canary(wanted.job); },
                   [&](const scheduler::NoWorkerLeft& starved) {
                     act(trust.give_up(starved.task, now.unix), now);
                   },
                   [&](const scheduler::JobFailed& ended) {
                     end_job(ended.job,
                             {.state = store::JobState::failed,
                              .reason = ended.reason.message,
                              .root = {},
                              .outputs = {},
                              .ended = now.unix},
                             now);
                   }},
             decision);
}

}  // namespace weft::jobs
