#include "decisions/scheduler/scheduler.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"
#include "decisions/scheduler/state.h"

namespace weft::scheduler {
namespace {

constexpr std::uint32_t slots_max = 1024;  // Slots of one worker: bounds a Lease message.

// Where a worker has measured nothing itself: a small part of the reference, so that it proves
// itself on small shares.
double first_rate(const protocol::Capabilities& capabilities) {
  if (std::isfinite(capabilities.f32_gflop_per_s) && capabilities.f32_gflop_per_s > 0)
    return std::clamp(capabilities.f32_gflop_per_s / 1000, 1e-4, 1000.0);
  return capabilities.device == protocol::DeviceKind::gpu ? 0.1 : 0.02;
}

}  // namespace

Scheduler::Scheduler(Settings settings) : state_(std::make_unique<State>(settings)) {}
Scheduler::~Scheduler() = default;

Result<> Scheduler::add_worker(const Worker& worker, Instant now) {
  state_->tables_.reach(now);
  State& state = *state_;
  if (state.tables_.workers.contains(worker.key))
    return fail(ErrorCode::already_exists, "The worker {} is connected already.",
                worker.key.text());
  auto made = std::make_unique<WorkerState>();
  made->info = worker;
  made->info.slots = std::min(worker.slots, slots_max);
  made->info.price_min = PriceFloors::step(worker.price_min);
  const bool says = state.members_.says(worker.standing);
  made->rate_said = says ? first_rate(worker.capabilities) : state.members_.assumed_rate();
  made->ranks_last = made->newcomer() && state.tables_.settings.safeguards.newcomers_rank_last;
  made->rate = made->rate_said;
  made->heard = now;
  WorkerState& added = state.tables_.workers.add(std::move(made));
  added.presence = &state.tables_.histories.arrives(worker.key, !added.newcomer(), now);
  state.tables_.classes.enter(added);
  state.members_.enter(added);
  return {};
}

void Scheduler::set_clock(Instant now, UnixMillis unix) {
  state_->tables_.histories.set_clock(now, unix);
}

void Scheduler::remove_worker(const PublicKey& worker, Departure departure, Instant now) {
  state_->tables_.reach(now);
  WorkerState* found = state_->tables_.workers.find(worker);
  if (found == nullptr) return;
  const bool left = departure == Departure::left;
  state_->worker_removal_.disconnect(
      *found, left ? Blame::none : Blame::gone,
      {ErrorCode::unavailable, left ? "The worker left." : "The connection to the worker broke."},
      now);
}

void Scheduler::set_slots(const PublicKey& worker, std::uint32_t slots) {
  if (WorkerState* found = state_->tables_.workers.find(worker))
    state_->members_.set_slots(*found, std::min(slots, slots_max));
}

void Scheduler::set_standing(const PublicKey& worker, Standing standing) {
  if (WorkerState* found = state_->tables_.workers.find(worker))
    state_->members_.set_standing(*found, standing);
}

void Scheduler::set_leases_max(const PublicKey& worker, std::uint32_t leases, double sample_share) {
  WorkerState* found = state_->tables_.workers.find(worker);
  if (found == nullptr) return;
  found->sample_share = std::clamp(sample_share, 0.0, 1.0);
  if (found->leases_max == leases) return;
  const bool more = leases > found->leases_max;
  found->leases_max = leases;
  state_->listings_.list(*found);
  if (more) state_->tables_.agenda.mark(*found);
}

void Scheduler::heard(const PublicKey& worker, Instant now) {
  state_->tables_.reach(now);
  WorkerState* found = state_->tables_.workers.find(worker);
  if (found != nullptr)
    found->heard = std::max(found->heard, now);  // Its deadline is checked again when it comes.
}

std::vector<protocol::HeldTask> Scheduler::resume(const PublicKey& worker,
                                                  std::span<const protocol::HeldTask> held,
                                                  Instant now) {
  state_->tables_.reach(now);
  State& state = *state_;
  WorkerState* found = state.tables_.workers.find(worker);
  if (found == nullptr) return {};
  found->heard = std::max(found->heard, now);
  std::vector<protocol::HeldTask> taken;
  Cancel cancel{.worker = worker, .tasks = {}, .reason = "The task is settled or runs elsewhere."};
  for (const protocol::HeldTask& each : held) {
    JobState* job = state.tables_.jobs.find(each.task.job);
    const auto wanted_again = [&] {
      if (job == nullptr || each.task.index >= job->spec.tasks || job->settled[each.task.index] ||
          found->running.size() >= found->info.slots)
        return false;
      if (!std::ranges::contains(found->classes, job->requirements) ||
          job->canary == CanaryState::leased || found->info.price_min > job->per_unit)
        return false;
      if ((job->canary == CanaryState::waiting && job->spec.kind == manifest::Kind::wgsl &&
           !found->native()) ||
          state.choice_.keeps_from(*found, *job, now))
        return false;  // It goes through the queue.
      TaskState* task = state.tables_.jobs.find_task(each.task);
      return task == nullptr || (task->missing() && task->replica_of(worker) == nullptr);
    };
    TaskState* task = state.tables_.jobs.find_task(each.task);
    const ReplicaOf* replica = task == nullptr ? nullptr : task->replica_of(worker);
    if (replica != nullptr && replica->attempt == each.attempt &&
        replica->state == ReplicaState::leased) {
      taken.push_back(each);  // It is its already.
    } else if (wanted_again()) {
      state.leases_.give(*found, *job, each.task.index, each.attempt, now);
      taken.push_back(each);
    } else {
      cancel.tasks.push_back(each);
    }
  }
  if (!cancel.tasks.empty()) state.tables_.out.push_back(std::move(cancel));
  return taken;
}

Result<> Scheduler::add_job(const Job& job, Instant now, std::span<const TaskProgress> progress) {
  state_->tables_.reach(now);
  State& state = *state_;
  if (state.tables_.jobs.contains(job.id))
    return fail(ErrorCode::already_exists, "The job {} is known already.", job.id.text());
  if (job.tasks == 0 || job.replicas == 0 || job.workgroups < job.tasks) {
    return fail(ErrorCode::invalid_argument,
                "A job has at least one task, one replica and one workgroup for each task; this "
                "one has {}, {} and {}.",
                job.tasks, job.replicas, job.workgroups);
  }
  auto made = std::make_unique<JobState>();
  JobState& added = *made;
  added.spec = job;
  added.since = now - job.waited;
  added.per_unit = job.per_unit > 0 ? job.per_unit : state.tables_.settings.pricing.per_unit;
  const Worth worth{
      .stake = job.stake,
      .priority = job.priority,
      .deadline_s = job.deadline ? std::max(seconds(*job.deadline - now + job.waited), 1.0) : 0,
      .workgroups = job.workgroups,
      .replicas = job.replicas};
  added.score = score(worth);
  added.urgent = urgency(worth) >= state.tables_.settings.urgent_from;
  added.rank = rank_of(worth, now - job.waited, state.tables_.jobs.next_number());
  added.settled.resize(job.tasks);
  if (job.estimate) {
    added.canary = CanaryState::passed;
    added.pace = job.estimate->reference_seconds_per_workgroup;
    added.pace_usual = added.pace;
  }
  for (const TaskProgress& each : progress) {
    if (each.index >= job.tasks)
      return fail(ErrorCode::invalid_argument, "The job {} has {} tasks; there is no task {}.",
                  job.id.text(), job.tasks, each.index);
    if (each.settled) {
      added.settled_count += added.settled[each.index] ? 0 : 1;
      added.settled[each.index] = true;
      continue;
    }
    TaskState& task = added.touch(each.index);
    task.wanted =
        std::max(job.replicas_first == 0 ? job.replicas : job.replicas_first, each.replicas_wanted);
    for (const PublicKey& worker : each.delivered)
      task.replicas.push_back({.worker = worker, .attempt = 0, .state = ReplicaState::counted});
    added.reopen(each.index, task);
  }
  added.requirements = &state.tables_.classes.of(job, state.tables_.workers, state.tables_.latest);
  ++added.requirements->jobs;
  if (job.deadline) state.tables_.deadlines.jobs.set(std::max(*job.deadline, now), job.id);
  if (job.deadline) added.spec.deadline = std::max(*job.deadline, now);
  added.unfit_at = now + state.tables_.settings.unfit_max;
  state.tables_.deadlines.unfit_looks.set(added.unfit_at, job.id);
  state.tables_.clients.join(added);
  state.tables_.jobs.add(std::move(made));
  state.listings_.list(added);
  state.tables_.agenda.mark(added);
  return {};
}

void Scheduler::remove_job(const JobId& job, std::string_view reason) {
  JobState* found = state_->tables_.jobs.find(job);
  if (found == nullptr) return;
  state_->leases_.cancel(*found, reason, state_->tables_.latest);
  state_->job_removal_.erase(*found);
}

void Scheduler::set_share(const PublicKey& client, double weight) {
  state_->tables_.clients.set_weight(client, weight);
}

Result<> Scheduler::result(const TaskResult& result, Instant now) {
  state_->tables_.reach(now);
  State& state = *state_;
  WorkerState* worker = state.tables_.workers.find(result.worker);
  TaskState* task = state.tables_.jobs.find_task(result.task);
  ReplicaOf* replica = task == nullptr ? nullptr : task->replica_of(result.worker);
  if (worker == nullptr || replica == nullptr || replica->attempt != result.attempt ||
      replica->state != ReplicaState::leased) {
    return fail(ErrorCode::not_found, "The worker does not hold attempt {} of task {}.",
                result.attempt, result.task.text());
  }
  JobState& job = *state.tables_.jobs.find(result.task.job);
  const auto holding = std::ranges::find_if(worker->running, [&](const Holding& each) {
    return each.job == &job && each.index == result.task.index;
  });
  check(holding != worker->running.end(), "a leased replica is held by its worker");
  const Instant began =
      holding == worker->running.begin() && !worker->sliced() ? worker->head_since : holding->since;
  const double own = 1 - std::clamp(std::isfinite(result.resumed) ? result.resumed : 0, 0.0, 1.0);
  const auto computed = static_cast<std::uint32_t>(
      std::max(1.0, std::round(own * job.range_count(result.task.index))));
  const Measurement measurement{
      .workgroups = computed,
      .gpu_seconds = state.members_.says(worker->info.standing) ? result.gpu_seconds : 0,
      .elapsed_seconds = seconds(now - began),
      .rate = worker->rate_said};

  replica->state = ReplicaState::reported;
  Holding reported = *holding;
  reported.since = now;
  state.long_runs_.done(job, result.task.index, result.worker);
  reported.charged = reference_seconds_per_workgroup(measurement) * measurement.workgroups;
  state.charges_.charge(job, reported.charged - holding->charged, now);
  worker->load_seconds -= holding->usual;
  worker->running.erase(holding);
  if (worker->running.empty()) worker->load_seconds = 0;
  worker->head_since = now;  // Whatever is first now runs from here on at the latest.
  if (worker->sliced() && !worker->running.empty())
    worker->head_since = worker->running.front().since;
  state.leases_.await_receipt(*worker, reported);
  worker->heard = std::max(worker->heard, now);
  worker->expiries = 0;

  if (job.canary != CanaryState::passed) {  // A scout that is done first does as well.
    if (!state.canaries_.pass(job, measurement, worker, now)) return {};
  } else if (!state.members_.says(worker->info.standing)) {
    replica->measured = measurement;  // It shows something once it is accepted.
  } else {
    state.rates_.learn(*worker, job, measurement);
  }
  state.listings_.list(*worker);
  state.tables_.agenda.mark(*worker);
  return {};
}

void Scheduler::awaits_receipt_from(const TaskId& id, const PublicKey& key, Instant then) {
  State& state = *state_;
  WorkerState* worker = state.tables_.workers.find(key);
  const JobState* job = state.tables_.jobs.find(id.job);
  if (worker == nullptr || job == nullptr) return;
  const auto reported = std::ranges::find_if(worker->reported, [&](const Holding& each) {
    return each.job == job && each.index == id.index;
  });
  if (reported == worker->reported.end()) return;
  Holding moved = *reported;
  worker->reported.erase(reported);
  moved.since = then;
  state.leases_.await_receipt(*worker, moved);
  state.listings_.list(*worker);
}

void Scheduler::counted(const TaskId& id, const PublicKey& key) {
  State& state = *state_;
  JobState* job = state.tables_.jobs.find(id.job);
  if (job == nullptr || id.index >= job->spec.tasks || job->settled[id.index]) return;
  TaskState& task = job->touch(id.index);
  ReplicaOf* replica = task.replica_of(key);
  if (replica != nullptr && replica->state == ReplicaState::counted) return;
  if (replica == nullptr) {
    task.replicas.push_back({.worker = key, .attempt = 0, .state = ReplicaState::counted});
    job->reopen(id.index, task);
  } else {
    replica->state = ReplicaState::counted;
    if (replica->newcomer && !state.tables_.settings.safeguards.tries_are_spent)
      state.leases_.give_try_back(*job);
    state.leases_.release(state.tables_.workers.at(key), *job, id.index, state.tables_.latest);
  }
  state.listings_.list(*job);
}

Result<> Scheduler::failed(const TaskId& id, const PublicKey& key, std::uint32_t attempt,
                           const Error& error, Instant now) {
  state_->tables_.reach(now);
  State& state = *state_;
  WorkerState* worker = state.tables_.workers.find(key);
  TaskState* task = state.tables_.jobs.find_task(id);
  const ReplicaOf* replica = task == nullptr ? nullptr : task->replica_of(key);
  if (worker == nullptr || replica == nullptr || replica->attempt != attempt ||
      replica->state == ReplicaState::counted) {
    return fail(ErrorCode::not_found, "The worker does not hold attempt {} of task {}.", attempt,
                id.text());
  }
  worker->heard = std::max(worker->heard, now);
  worker->expiries = 0;
  state.leases_.lose(*worker, *state.tables_.jobs.find(id.job), id.index, blame_for(error.code),
                     error, now);
  return {};
}

Result<> Scheduler::checkpointed(const TaskCheckpoint& checkpoint, Instant now) {
  state_->tables_.reach(now);
  return state_->making_way_.checkpointed(checkpoint, now);
}

void Scheduler::settled(const TaskId& id, std::span<const PublicKey> by) {
  State& state = *state_;
  JobState* job = state.tables_.jobs.find(id.job);
  if (job == nullptr || id.index >= job->spec.tasks || job->settled[id.index]) return;
  if (const auto task = job->tasks.find(id.index); task != job->tasks.end()) {
    for (const PublicKey& right : by) {
      const ReplicaOf* replica = task->second.replica_of(right);
      WorkerState* worker = state.tables_.workers.find(right);
      if (replica != nullptr && worker != nullptr && replica->measured)
        state.rates_.learn(*worker, *job, *replica->measured);
    }
  }
  job->settled[id.index] = true;
  ++job->settled_count;
  if (const auto found = job->tasks.find(id.index); found != job->tasks.end()) {
    for (const ReplicaOf& replica : found->second.replicas) {
      state.tables_.samples.decide(id, replica.worker);
      const bool accepted = std::ranges::contains(by, replica.worker);
      const bool counted = replica.state == ReplicaState::counted;
      if (replica.newcomer &&
          (!counted || (accepted && state.tables_.settings.safeguards.tries_are_spent)))
        state.leases_.give_try_back(*job);
      if (replica.state == ReplicaState::counted) continue;
      state.leases_.release(state.tables_.workers.at(replica.worker), *job, id.index,
                            state.tables_.latest);
      if (replica.state == ReplicaState::reported) continue;
      state.tables_.out.push_back(Cancel{.worker = replica.worker,
                                         .tasks = {{.task = id, .attempt = replica.attempt}},
                                         .reason = "The task is settled."});
    }
    state.long_runs_.forget(id);
    state.copies_.drop(*job, found->second, found->second.copies);
    job->close(found->second);
    job->tasks.erase(found);
  }
  if (job->canary != CanaryState::passed && job->canary_index == id.index) {
    job->canary = CanaryState::waiting;
    job->canary_index.reset();
  }
  state.listings_.list(*job);
  state.tables_.agenda.mark(*job);
}

void Scheduler::bar(const TaskId& id, const PublicKey& worker) {
  JobState* job = state_->tables_.jobs.find(id.job);
  if (job == nullptr) return;
  if (!std::ranges::contains(job->barred, worker)) job->barred.push_back(worker);
  const auto task = job->tasks.find(id.index);
  if (task == job->tasks.end() || !state_->tables_.settings.safeguards.lost_goes_to_trusted) return;
  const ReplicaOf* replica = task->second.replica_of(worker);
  if (replica != nullptr && replica->newcomer) task->second.for_trusted = true;
}

void Scheduler::canary_measured(const JobId& id, const Measurement& measurement, Instant now) {
  state_->tables_.reach(now);
  JobState* job = state_->tables_.jobs.find(id);
  if (job == nullptr || job->canary != CanaryState::waiting) return;
  if (job->spec.sample_parts > 0)
    state_->tables_.samples.expect(
        id, measurement.elapsed_seconds / std::max(measurement.workgroups, 1U));
  (void)state_->canaries_.pass(*job, measurement, nullptr, now);
}

std::size_t Scheduler::able_count(const JobId& id) const {
  const JobState* job = state_->tables_.jobs.find(id);
  return job == nullptr ? 0 : job->able();
}

void Scheduler::want_replicas(const TaskId& id, std::uint32_t replicas) {
  State& state = *state_;
  JobState* job = state.tables_.jobs.find(id.job);
  if (job == nullptr || id.index >= job->spec.tasks || job->settled[id.index]) return;
  TaskState& task = job->touch(id.index);
  if (task.wanted >= replicas) return;
  task.wanted = replicas;
  job->reopen(id.index, task);
  state.tables_.deadlines.starving.set(state.tables_.latest + state.tables_.settings.starved_after,
                                       id);
  state.listings_.list(*job);
  state.tables_.agenda.mark(*job);
}

void Scheduler::sample_begins(const TaskId& id, const PublicKey& key, double share, Instant now) {
  state_->samples_.begin(id, key, share, now);
}

void Scheduler::sample_stalls(const TaskId& id, const PublicKey& key) {
  state_->tables_.samples.stall(id, key);
}

void Scheduler::sample_ends(const TaskId& id, const PublicKey& key, SampleQueue::Outcome outcome,
                            Instant now) {
  state_->tables_.samples.end(id, key, outcome, now);
}

void Scheduler::sample_decided(const TaskId& id, const PublicKey& key) {
  state_->tables_.samples.decide(id, key);
}

double Scheduler::sample_wait(Instant now) const { return state_->samples_.wait(now); }

bool Scheduler::samples_are_late(Instant now) const { return state_->samples_.are_late(now); }

std::vector<Decision> Scheduler::decide(Instant now) {
  state_->tables_.reach(now);
  state_->expiry_.expire(now);
  state_->charges_.refresh(now);
  state_->samples_.look_again(now);
  do {
    match(state_->tables_, state_->worker_choice_, now);
    state_->making_way_.look(now);
  } while (!state_->tables_.agenda.empty());  // A promise was kept or broken, or a run made way.
  return state_->tables_.out.take();
}

std::optional<Instant> Scheduler::next_deadline() const {
  std::optional<Instant> next = state_->tables_.deadlines.next();
  for (const auto at : {state_->making_way_.next_look(), state_->samples_.next_look()}) {
    if (at) next = next ? std::min(*next, *at) : *at;
  }
  return next;
}

std::optional<JobProgress> Scheduler::progress(const JobId& job) const {
  const JobState* found = state_->tables_.jobs.find(job);
  if (found == nullptr) return {};
  return JobProgress{.settled = found->settled_count,
                     .leased = found->leases,
                     .canary_passed = found->canary == CanaryState::passed,
                     .estimate = found->spec.estimate};
}

std::vector<PublicKey> Scheduler::able(const JobId& job) const {
  std::vector<PublicKey> keys;
  const JobState* found = state_->tables_.jobs.find(job);
  if (found == nullptr) return keys;
  for (const auto& [sequence, worker] : state_->tables_.workers.in_order()) {
    if (!worker->gone && worker->info.slots > 0 && worker->info.price_min <= found->per_unit &&
        std::ranges::contains(worker->classes, found->requirements))
      keys.push_back(worker->info.key);
  }
  return keys;
}

LeaseTerms Scheduler::terms(const JobId& job, const PublicKey& worker) const {
  LeaseTerms terms{
      .piece_workgroups_max = 0,
      .wall_ms_max = static_cast<std::uint32_t>(state_->tables_.settings.wall_max.count())};
  const JobState* asked = state_->tables_.jobs.find(job);
  const WorkerState* taker = state_->tables_.workers.find(worker);
  if (asked == nullptr || taker == nullptr) return terms;
  terms.piece_workgroups_max = state_->prospects_.piece_workgroups_max(*taker, *asked);
  return terms;
}

std::optional<Waiting> Scheduler::waiting(const JobId& id, Instant now) const {
  const JobState* const job = state_->tables_.jobs.find(id);
  return job == nullptr ? std::nullopt : state_->explainer_.explain(*job, now);
}

std::optional<WorkerLoad> Scheduler::load(const PublicKey& worker) const {
  const WorkerState* found = state_->tables_.workers.find(worker);
  if (found == nullptr) return {};
  return WorkerLoad{.held = static_cast<std::uint32_t>(found->running.size()),
                    .slots = found->info.slots,
                    .rate = found->rate,
                    .price_min = found->info.price_min};
}

std::vector<ReservationView> Scheduler::reservations() const {
  std::vector<ReservationView> found;
  for (const auto& [sequence, worker] : state_->tables_.workers.in_order()) {
    if (worker->promised == nullptr) continue;
    found.push_back({.job = worker->promised->spec.id,
                     .worker = worker->info.key,
                     .start = worker->promise.start});
  }
  return found;
}

std::vector<PublicKey> Scheduler::clients() const { return state_->tables_.clients.keys(); }

ClientShare Scheduler::share(const PublicKey& client, Instant now) const {
  const FairShares& shares = state_->tables_.clients.shares();
  return {.jobs = static_cast<std::uint32_t>(state_->tables_.clients.jobs_of(client)),
          .used_seconds = shares.usage(client, now),
          .lead_seconds = seconds(shares.lead(client, now))};
}

Market Scheduler::market(const Job& job, Instant now) {
  return state_->market.of(ClassKey::of(job), state_->tables_.workers.in_order(),
                           state_->tables_.classes.all(), now);
}

std::optional<double> Scheduler::busy() const {
  std::size_t trusted = 0;
  std::size_t busy = 0;
  for (const auto& [sequence, worker] : state_->tables_.workers.in_order()) {
    if (worker->gone || worker->info.slots == 0 || worker->newcomer()) continue;
    ++trusted;
    busy += worker->running.empty() ? 0 : 1;
  }
  if (trusted == 0) return std::nullopt;
  return static_cast<double>(busy) / static_cast<double>(trusted);
}

std::optional<double> Scheduler::stays(const PublicKey& worker, double seconds, Instant now) const {
  const WorkerState* found = state_->tables_.workers.find(worker);
  if (found == nullptr) return {};
  return found->presence->stays(state_->tables_.histories.unix_at(now), seconds);
}

std::size_t Scheduler::copies() const { return state_->copies_.under_way(); }
std::uint64_t Scheduler::copies_made() const { return state_->copies_.made(); }

std::uint64_t Scheduler::preemptions() const { return state_->making_way_.made(); }

std::vector<PublicKey> Scheduler::take_moved() { return state_->tables_.histories.take_moved(); }
std::vector<PublicKey> Scheduler::take_forgotten() {
  return state_->tables_.histories.take_forgotten();
}

const Presence* Scheduler::presence(const PublicKey& worker) const {
  return state_->tables_.histories.presence(worker);
}

void Scheduler::forget_presence(const PublicKey& worker) {
  state_->tables_.histories.forget(worker);
}

void Scheduler::restore_presence(const PublicKey& worker,
                                 const std::array<Presence::Hour, Presence::hours>& seen) {
  state_->tables_.histories.restore(worker, seen);
}

std::size_t Scheduler::workers() const { return state_->tables_.workers.size(); }
std::size_t Scheduler::jobs() const { return state_->tables_.jobs.size(); }

}  // namespace weft::scheduler
