#include "apps/coordinator/core.h"

#include <utility>

#include "apps/coordinator/core_state.h"
#include "common/base/log.h"
#include "common/manifest/split.h"

namespace weft::coordinator {

Core::Core(Parts parts, CoreSettings settings) : state_(std::make_unique<State>(parts, std::move(settings))) {}
Core::~Core() = default;

Result<> Core::restore(store::Loaded loaded, Moment now) {
  State& state = *state_;
  if (auto restored = state.ledger.restore(loaded.balances, loaded.keys); !restored) return pass(std::move(restored), "while restoring the ledger");
  for (const auto& entry : loaded.balances) {
    if (entry.account.kind == ledger::Account::Kind::client) state.parts.book.set_funded(PublicKey{{entry.account.id}}, entry.amount > 0);
  }
  for (const auto& reputation : loaded.reputations) {
    state.trust.restore_reputation(reputation.worker, {.accepted = reputation.accepted, .refused = reputation.refused});
  }

  std::map<JobId, RunningJob> jobs;
  std::vector<JobId> order;
  for (auto& row : loaded.jobs) {
    auto parsed = manifest::parse(row.manifest);
    if (!parsed) return fail(ErrorCode::data_loss, "The stored manifest of job {} is not one: {}", row.id.text(), parsed.error().message);
    RunningJob job;
    job.manifest = std::make_shared<const manifest::Manifest>(std::move(*parsed));
    job.accepted.resize(row.tasks);
    job.row = std::move(row);
    order.push_back(job.row.id);
    jobs.emplace(job.row.id, std::move(job));
  }
  for (auto& task : loaded.tasks) {
    const auto found = jobs.find(task.id.job);
    if (found == jobs.end() || task.id.index >= found->second.accepted.size()) {
      return fail(ErrorCode::data_loss, "The stored task {} belongs to no running job.", task.id.text());
    }
    auto& slot = found->second.accepted[task.id.index];
    if (!slot) ++found->second.accepted_count;
    slot = std::move(task);
  }
  std::map<JobId, std::map<std::uint32_t, scheduler::TaskProgress>> progress;
  for (auto& [id, job] : jobs) {
    for (std::uint32_t i = 0; i < job.accepted.size(); ++i) {
      if (job.accepted[i]) progress[id][i] = {.index = i, .settled = true, .delivered = {}};
    }
  }
  std::map<JobId, std::vector<trust::Replica>> counted;
  for (auto& replica : loaded.replicas) {
    const auto found = jobs.find(replica.task.job);
    if (found == jobs.end() || replica.task.index >= found->second.accepted.size()) {
      return fail(ErrorCode::data_loss, "The stored replica of {} belongs to no running job.", replica.task.text());
    }
    if (found->second.accepted[replica.task.index]) continue;
    auto& task = progress[replica.task.job][replica.task.index];
    task.index = replica.task.index;
    task.delivered.push_back(replica.worker);
    counted[replica.task.job].push_back({.task = replica.task, .worker = replica.worker, .attempt = replica.attempt, .root = replica.root});
    Delivered delivered;
    delivered.result = {.task = replica.task,
                        .attempt = replica.attempt,
                        .root = replica.root,
                        .outputs = {},
                        .gpu_seconds = replica.gpu_seconds,
                        .wall_seconds = replica.wall_seconds};
    for (const auto& output : replica.outputs) delivered.result.outputs.push_back({.hash = output.hash, .bytes = output.bytes});
    delivered.arrived = replica.arrived;
    delivered.counted = true;
    found->second.delivered[replica.task.index].emplace(replica.worker, std::move(delivered));
  }
  for (const auto& id : order) {
    std::vector<scheduler::TaskProgress> known;
    for (auto& [index, task] : progress[id]) known.push_back(std::move(task));
    state.add_running(std::move(jobs.at(id)), now, known);
    for (const auto& task : known) {
      if (task.settled) state.trust.restore_accepted({.job = id, .index = task.index});
    }
    for (const auto& replica : counted[id]) state.trust.restore_counted(replica);
    for (const auto& decision : state.trust.restored(id)) state.act(decision, now);
    if (!state.jobs.contains(id)) continue;  // Its replicas differed for good.
    RunningJob& job = state.jobs.at(id);
    if (job.accepted_count == job.row.tasks) state.start_join(job);
  }
  if (!order.empty()) log_info("{} jobs go on where they were.", order.size());
  return {};
}

void Core::flush(Moment now) {
  State& state = *state_;
  if (state.broken) return;
  state.decide(now);
  state.keep_history(now);
  if (state.flights.size() >= state.settings.commits_in_flight_max) return;  // Lands soon, and then flushes.
  if (state.batch.empty() && state.effects.empty()) return;
  auto& flight = state.flights.emplace_back();
  flight.number = state.flight_next++;
  flight.effects = std::exchange(state.effects, {});
  if (state.batch.empty()) {
    flight.durable = true;
    return state.land();
  }
  ++state.counters.commits;
  state.parts.world.commit(std::exchange(state.batch, {}), [this, number = flight.number](Result<> done) {
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

std::optional<Instant> Core::next_deadline() const { return state_->scheduler.next_deadline(); }

void Core::State::send(const PublicKey& worker, protocol::CoordinatorMessage message) {
  const auto found = workers.find(worker);
  if (found == workers.end()) return;
  effect([this, session = found->second.session, sent = std::move(message)] { parts.world.send(session, sent); });
}

void Core::State::decide(Moment now) {
  // Acting on a decision (a job that ends, a replica that is given up) may decide more.
  for (auto decisions = scheduler.decide(now.at); !decisions.empty(); decisions = scheduler.decide(now.at)) {
    for (auto& decision : decisions) act(std::move(decision), now);
  }
}

namespace {
template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
}  // namespace

void Core::State::act(scheduler::Decision decision, Moment now) {
  std::visit(Match{[&](scheduler::Lease& lease) {
                     const auto job = jobs.find(lease.job);
                     if (job == jobs.end()) return;
                     for (const auto& task : lease.tasks) {
                       job->second.leased[task.index].insert(lease.worker);
                       note_lease(job->second, task.index, now);
                     }
                     counters.leases_granted += lease.tasks.size();
                     send(lease.worker, protocol::Lease{.job = lease.job,
                                                        .manifest = job->second.row.manifest_hash,
                                                        .piece_workgroups_max = lease.piece_workgroups_max,
                                                        .wall_ms_max = lease.wall_ms_max,
                                                        .tasks = std::move(lease.tasks)});
                   },
                   [&](scheduler::Cancel& cancel) {
                     for (const auto& held : cancel.tasks) {
                       const auto job = jobs.find(held.task.job);
                       if (job != jobs.end()) job->second.leased[held.task.index].erase(cancel.worker);
                       board.touch(held.task);
                     }
                     send(cancel.worker, protocol::Cancel{.tasks = std::move(cancel.tasks), .reason = std::move(cancel.reason)});
                   },
                   [&](const scheduler::LeaseLost& lost) {
                     ++counters.leases_lost;
                     trust.withdraw(lost.task, lost.worker);
                     const auto job = jobs.find(lost.task.job);
                     if (job != jobs.end()) {
                       job->second.leased[lost.task.index].erase(lost.worker);
                       auto& delivered = job->second.delivered[lost.task.index];
                       if (const auto found = delivered.find(lost.worker); found != delivered.end() && !found->second.counted) delivered.erase(found);
                       board.touch(lost.task);
                     }
                     log_debug("Task {} is lost on {}: {}", lost.task.text(), lost.worker.text(), lost.reason);
                   },
                   [&](const scheduler::WorkerLost& lost) {
                     const auto found = workers.find(lost.worker);
                     if (found == workers.end()) return;
                     effect([this, session = found->second.session, reason = lost.reason] {
                       parts.world.close(session, {.code = std::string(to_string(ErrorCode::deadline_exceeded)), .message = reason});
                     });
                     disconnect(lost.worker, now);
                   },
                   [&](const scheduler::Estimated& estimated) {
                     const auto job = jobs.find(estimated.job);
                     if (job == jobs.end()) return;
                     const auto& estimate = estimated.estimate;
                     job->second.row.price = estimate.price;
                     job->second.row.units = estimate.units;
                     job->second.row.reference_seconds_per_workgroup = estimate.reference_seconds_per_workgroup;
                     batch.job_updates.push_back(
                         {.id = estimated.job,
                          .price = store::JobUpdate::Price{.price = estimate.price,
                                                           .units = estimate.units,
                                                           .reference_seconds_per_workgroup = estimate.reference_seconds_per_workgroup},
                          .end = {}});
                   },
                   [&](const scheduler::NoWorkerLeft& starved) {
                     for (const auto& outcome : trust.give_up(starved.task)) act(outcome, now);
                   },
                   [&](const scheduler::JobFailed& ended) {
                     end_job(ended.job,
                             {.state = store::JobState::failed, .reason = ended.reason.message, .root = {}, .outputs = {}, .ended = now.unix}, now);
                   }},
             decision);
}

}  // namespace weft::coordinator
