// decide(): what has expired, and who gets what.
#include <algorithm>
#include <cmath>
#include <set>

#include "common/base/format.h"
#include "decisions/scheduler/canary_rules.h"
#include "decisions/scheduler/state.h"

namespace weft::scheduler {
namespace {

constexpr auto native = static_cast<std::size_t>(protocol::WorkerKind::native);
constexpr std::size_t pass_overs_max =
    64;  // For one job at a time: it does not look at thousands of workers that do not suit.
constexpr auto browser = static_cast<std::size_t>(protocol::WorkerKind::browser);

}  // namespace

// A job is looked at a day after its submission, and again a day after the last look or the time at
// which its last worker left: the earliest at which it could have had none for a day.
void Scheduler::State::end_unfit(Instant now) {
  while (const auto due = tables_.deadlines.unfit_looks.due(now)) {
    JobState& job = tables_.jobs.at(*due);
    const bool waits = job.leases == 0 && (!job.open.empty() || job.has_fresh());
    const Instant since =
        waits && !job.requirements->has_members() ? job.requirements->empty_since : now;
    if (now - since >= tables_.settings.unfit_max) {
      leases_.end_job(
          job,
          {ErrorCode::unavailable,
           weft::format("For {} hours no worker had what the job requires; {} of {} tasks were "
                        "accepted.",
                        tables_.settings.unfit_max / std::chrono::hours(1), job.settled_count,
                        job.spec.tasks)},
          now);
      continue;
    }
    tables_.deadlines.unfit_looks.cancel(job.unfit_at, job.spec.id);
    job.unfit_at = since + tables_.settings.unfit_max;
    tables_.deadlines.unfit_looks.set(job.unfit_at, job.spec.id);
  }
}

void Scheduler::State::expire(Instant now) {
  while (const auto due = tables_.deadlines.jobs.due(now)) {
    JobState& job = tables_.jobs.at(*due);
    leases_.end_job(job,
                    {ErrorCode::deadline_exceeded,
                     weft::format("The job's deadline passed with {} of {} tasks accepted.",
                                  job.settled_count, job.spec.tasks)},
                    now);
  }
  end_unfit(now);
  while (const auto due = tables_.deadlines.workers.due(now)) {
    expire_worker(tables_.workers.at(*due), now);
  }
  while (const auto id = tables_.deadlines.retries.take_due(now)) {
    tables_.resume_reservations.drop_expired(*id, now);
    TaskState* task = tables_.jobs.find_task(*id);
    if (task == nullptr || !task->missing()) continue;
    JobState& job = *tables_.jobs.find(id->job);
    job.reopen(id->index, *task);  // Those who passed over it look again.
    listings_.list(job);
    tables_.agenda.mark(job);
  }
  while (const auto due = tables_.deadlines.patience.take_due(now)) {
    JobState* job = tables_.jobs.find(*due);
    if (job != nullptr && job->patient_until && *job->patient_until <= now)
      tables_.agenda.mark(*job);
  }
  while (const auto id = tables_.deadlines.starving.take_due(now)) {
    const TaskState* task = tables_.jobs.find_task(*id);
    if (task == nullptr || task->replicas.size() >= task->wanted) continue;
    std::vector<PublicKey> had;
    for (const ReplicaOf& replica : task->replicas) {
      if (replica.state == ReplicaState::counted) had.push_back(replica.worker);
    }
    if (had.size() == task->replicas.size() &&
        blame_.no_other_worker(*tables_.jobs.find(id->job), had))
      tables_.out.push_back(NoWorkerLeft{*id});
    tables_.deadlines.starving.set(now + tables_.settings.starved_after, *id);
  }
}

void Scheduler::State::expire_worker(WorkerState& worker, Instant now) {
  if (worker.heard + tables_.settings.beat * tables_.settings.beats_missed_max <= now) {
    const auto silent = std::chrono::duration_cast<std::chrono::milliseconds>(now - worker.heard);
    const Error why{ErrorCode::unavailable,
                    weft::format("The worker has said nothing for {} ms.", silent.count())};
    tables_.out.push_back(WorkerLost{.worker = worker.info.key, .reason = why.message});
    worker_removal_.disconnect(worker, Blame::gone, why, now);
    return;
  }
  if (!worker.running.empty() &&
      worker.head_since + prospects_.wall_bound(worker) + tables_.settings.grace <= now) {
    const Error why{ErrorCode::deadline_exceeded, "The lease expired."};
    if (++worker.expiries >= tables_.settings.expiries_max) {
      tables_.out.push_back(
          WorkerLost{.worker = worker.info.key,
                     .reason = weft::format("The worker let {} leases expire.", worker.expiries)});
      worker_removal_.disconnect(worker, Blame::timeout, why, now);
      return;
    }
    Cancel cancel{.worker = worker.info.key, .tasks = {}, .reason = why.message};
    for (const Holding& holding : worker.running)
      cancel.tasks.push_back(
          {.task = holding.job->task_id(holding.index), .attempt = holding.attempt});
    tables_.out.push_back(std::move(cancel));
    Blame head = Blame::timeout;
    while (!worker.running.empty()) {
      const Holding holding = worker.running.front();
      leases_.lose(worker, *holding.job, holding.index, std::exchange(head, Blame::none), why, now);
    }
  }
  while (!worker.reported.empty() &&
         worker.reported.front().since + tables_.settings.grace <= now) {
    const Holding holding = worker.reported.front();
    leases_.lose(worker, *holding.job, holding.index, Blame::failure,
                 {ErrorCode::deadline_exceeded, "No receipt came for the result."}, now);
  }
  canaries_.take_back(worker, now);
  copies_.look_for_late(worker, now);
  listings_.list(worker);
}

// Jobs in the order of their rank; for each, its best free workers one by one. Only jobs that have
// changed, and those that a changed worker might take something of, are looked at: everything else
// was matched before. The latter are found class by class, from the front of each queue for as long
// as a changed worker of the class has room: to ask each worker for its next job instead would ask
// all of them again for every job that only one can have.
//
// What is given may put its client's jobs further back (charge()): those that were to be looked at
// stay so at their new place, and the queues' fronts go on from where they were. Where a promise is
// kept elsewhere its worker is free for those behind.
void Scheduler::State::match(Instant now) {
  struct Front {
    Rank rank;
    RequirementClass* of = nullptr;
    RequirementClass::Phase phase = RequirementClass::open;
    bool operator<(const Front& other) const {
      return std::pair(rank, phase) < std::pair(other.rank, other.phase);
    }
  };
  tables_.agenda.begin_pass();
  std::unordered_map<RequirementClass*, std::vector<WorkerState*>>
      hands;               // Changed workers with room.
  std::set<Front> fronts;  // A rank is one job's, and so one class's.
  const auto advance = [&](RequirementClass* of, RequirementClass::Phase phase,
                           std::optional<Rank> after) {
    const auto& needing = of->needing[phase];
    const auto next = after ? needing.upper_bound(*after) : needing.begin();
    if (next != needing.end()) fronts.insert({.rank = next->first, .of = of, .phase = phase});
  };
  const auto take_changed = [&](std::optional<Rank> after) {
    std::set<RequirementClass*> touched;  // In any order: the fronts are sorted.
    for (const auto& [sequence, worker] : tables_.agenda.take_workers()) {
      if (!worker->free_key) continue;
      for (RequirementClass* each : worker->classes) {
        std::vector<WorkerState*>& hand = hands[each];
        if (!after || !std::ranges::contains(hand, worker)) hand.push_back(worker);
        touched.insert(each);
      }
    }
    for (RequirementClass* of : touched) {
      advance(of, RequirementClass::canary, after);
      advance(of, RequirementClass::scouts, after);
      advance(of, RequirementClass::open, after);
    }
  };
  take_changed({});
  const auto give_all = [&](JobState& job) {
    const Rank rank = job.rank;
    while (give(job, now)) {
      if (job.rank == rank) continue;
      tables_.agenda.put_back(job);  // Others are before it now.
      break;
    }
    if (tables_.agenda.has_workers()) take_changed(rank);
  };

  for (const JobState* first = tables_.agenda.first(); first != nullptr || !fronts.empty();
       first = tables_.agenda.first()) {
    if (fronts.empty() || (first != nullptr && first->rank <= fronts.begin()->rank)) {
      give_all(tables_.agenda.take_first());
      continue;
    }
    const Front front = *fronts.begin();
    fronts.erase(fronts.begin());
    auto& candidates = hands.at(front.of);
    const auto found = front.of->needing[front.phase].find(front.rank);
    if (found != front.of->needing[front.phase].end()) {
      switch (takers(candidates, *found->second, now)) {
        case Takers::some:
          give_all(*found->second);
          break;
        case Takers::none:
          break;
        case Takers::none_of_class:
          continue;
      }
    }
    if (!candidates.empty()) advance(front.of, front.phase, front.rank);
  }
}

// Whether one of these workers could take something of the job. Those without room are dropped.
Scheduler::State::Takers Scheduler::State::takers(std::vector<WorkerState*>& candidates,
                                                  JobState& job, Instant now) {
  const bool only_natives = waits_for_native(job);
  bool free_taker = false;
  for (std::size_t i = candidates.size(); i-- > 0;) {
    WorkerState* worker = candidates[i];
    if (!worker->free_key) {
      candidates[i] = candidates.back();  // Looked at already.
      candidates.pop_back();
      continue;
    }
    if (only_natives && !worker->native()) continue;
    if (job.canary == CanaryState::leased && !worker->running.empty()) continue;
    free_taker = true;
    if (takes(*worker, job, now)) return Takers::some;
  }
  // Canaries and scouts alike ask for native workers, and scouts for those that have nothing to do:
  // so do the rest of the class.
  return (only_natives || job.canary == CanaryState::leased) && !free_taker ? Takers::none_of_class
                                                                            : Takers::none;
}

bool Scheduler::State::takes(const WorkerState& worker, JobState& job, Instant now) {
  const auto index = choice_.task_for(worker, job, now);
  if (!index) return false;
  if (!promises_.admits(worker, job, *index, now)) {
    const JobState* promised = job.requirements->promised;
    return promised == nullptr || job.rank < promised->rank;  // It may be promised room.
  }
  const bool waits = job.patient_until && *job.patient_until > now;
  return !waits || prospects_.suits(worker, job, *index, now);
}

bool Scheduler::State::give(JobState& job, Instant now) {
  if (job.listed_phase == RequirementClass::phases) return false;
  canaries_.want_device(job);
  const auto& natives = job.requirements->free[native];
  const auto& browsers = job.requirements->free[browser];
  auto next_native = natives.begin();
  auto next_browser = waits_for_native(job) ? browsers.end() : browsers.begin();
  const auto grant = [&](WorkerState& worker, std::uint32_t index, std::uint32_t attempt) {
    announce(worker, job, index, attempt);
    leases_.give(worker, job, index, attempt, now);
    return true;
  };
  WorkerState* failed_before =
      nullptr;  // Takes a task again that it failed, if no other worker is free.
  WorkerState* passed_over = nullptr;  // The best of those that do not suit.
  double prospect_best = -1;
  std::size_t passed_over_count = 0;
  bool lacks_room = false;
  while (next_native != natives.end() || next_browser != browsers.end()) {
    const bool take_native =
        next_browser == browsers.end() ||
        (next_native != natives.end() && next_native->first < next_browser->first);
    WorkerState& worker = take_native ? *(next_native++)->second : *(next_browser++)->second;
    if (job.canary == CanaryState::leased && !worker.running.empty())
      break;  // The idle ones come first.
    const auto index = choice_.task_for(worker, job, now);
    if (!index) continue;
    if (!promises_.admits(worker, job, *index, now)) {
      lacks_room = true;
      continue;
    }
    if (const double chance = prospects_.chance(worker, job, *index, now);
        chance < 1 - tables_.settings.leaving_risk_max) {
      if (chance > prospect_best) {
        prospect_best = chance;
        passed_over = &worker;
      }
      if (++passed_over_count >= pass_overs_max) break;
      continue;
    }
    const TaskState* task = tables_.jobs.find_task(job.task_id(*index));
    if (task == nullptr ||
        !std::ranges::contains(task->failures, worker.info.key, &FailureOn::worker))
      job.patient_until.reset();
    if (task == nullptr) return grant(worker, *index, 1);
    if (!std::ranges::contains(task->failures, worker.info.key, &FailureOn::worker))
      return grant(worker, *index, task->next_attempt);
    if (failed_before == nullptr) failed_before = &worker;
  }
  const std::size_t asked = job.able(native) + (waits_for_native(job) ? 0 : job.able(browser));
  if (failed_before == nullptr && passed_over == nullptr) {
    if (lacks_room || natives.size() + browsers.size() < asked) promises_.promise(job, now);
    return false;
  }
  WorkerState& worker = failed_before != nullptr ? *failed_before : *passed_over;
  const std::uint32_t index = *choice_.task_for(worker, job, now);
  // If there is no other worker, waiting would be for nothing.
  const bool patient = failed_before == nullptr && passed_over_count < asked;
  if (patient && (!job.patient_until || *job.patient_until > now)) {
    // A lease that ends without a result costs what the task takes; so long it is worth to wait.
    const auto wait = std::chrono::duration<double>(std::min(
        prospects_.predicted_seconds(worker, job, index), seconds(tables_.settings.wall_max)));
    wait_for_better(job, std::chrono::duration_cast<Duration>(wait), now);
    return false;
  }
  const TaskState* task = tables_.jobs.find_task(job.task_id(index));
  return grant(worker, index, task == nullptr ? 1 : task->next_attempt);
}

void Scheduler::State::wait_for_better(JobState& job, Duration wait, Instant now) {
  if (job.patient_until) return;
  job.patient_until = now + wait;
  tables_.deadlines.patience.set(*job.patient_until, job.spec.id);
}

void Scheduler::State::announce(WorkerState& worker, JobState& job, std::uint32_t index,
                                std::uint32_t attempt) {
  const auto made = [&] {
    Lease lease{.worker = worker.info.key,
                .job = job.spec.id,
                .wall_ms_max = static_cast<std::uint32_t>(tables_.settings.wall_max.count()),
                .tasks = {}};
    lease.canary = job.canary != CanaryState::passed;
    if (lease.canary || prospects_.is_long(prospects_.predicted_seconds(worker, job, index)))
      lease.checkpoint_ms = static_cast<std::uint32_t>(tables_.settings.checkpoint_min.count());
    if (lease.canary) {
      // A browser cannot be stopped, so that it starts with the least there is; a native worker's
      // child can.
      lease.piece_workgroups_max =
          !worker.native() && job.spec.kind == manifest::Kind::wgsl ? 1 : 0;
    } else {
      const double fitting = seconds(tables_.settings.dispatch_max) * worker.rate /
                             job.pace;  // Infinite for a pace of 0.
      if (fitting < job.range_count(0))
        lease.piece_workgroups_max = static_cast<std::uint32_t>(std::max(fitting, 1.0));
    }
    return lease;
  };
  tables_.out.lease(worker.sequence, job.spec.id, made,
                    {.index = index,
                     .attempt = attempt,
                     .first = job.range_first(index),
                     .count = job.range_count(index)});
}

}  // namespace weft::scheduler
