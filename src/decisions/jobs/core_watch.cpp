// How the core shows itself to those who watch (watch_board.h).
#include <algorithm>

#include "decisions/jobs/core_state.h"
#include "decisions/scheduler/quote.h"

namespace weft::jobs {

namespace {
namespace watch = protocol::watch;
}

void Core::watch(WatchWanted wanted, Moment now, Answer<WatchUpdate> answer) {
  State& state = *state_;
  WatchUpdate update{.delta = state.board.advance(state, now.unix), .snapshot = {}};
  if (wanted == WatchWanted::snapshot_too) update.snapshot = state.board.snapshot();
  state.effect([answer = std::move(answer), update = std::move(update)] { answer(update); });
}

void Core::stop_watching() { state_->board.rest(); }

void Core::State::keep_history(Moment now) {
  if (!board.history.is_over(now.unix)) return;
  const auto market = scheduler.market(scheduler::Job{}, now.at);
  board.history.roll(now.unix, {.workers = static_cast<std::uint32_t>(workers.size()),
                                .open = static_cast<std::uint32_t>(tasks_open),
                                .per_unit = scheduler::quote(settings.scheduler.pricing, market,
                                                             seasons.factor(now.unix))
                                                .per_unit});
}

void Core::State::note_lease(RunningJob& job, std::uint32_t index, Moment now) {
  job.leased_since.try_emplace(index, now.at);
  board.touch({.job = job.row.id, .index = index});
}

void Core::State::note_refusal(const TaskId& task) {
  board.history.refused();
  const auto job = jobs.find(task.job);
  if (job == jobs.end() || task.index >= job->second.accepted.size()) return;
  ++job->second.refusals;
  if (!job->second.accepted[task.index]) job->second.refused.insert(task.index);
  board.touch(task);
}

void Core::State::note_acceptance(RunningJob& job, std::uint32_t index, MicroCredits paid,
                                  Moment now) {
  const auto since = job.leased_since.find(index);
  board.history.accepted(since == job.leased_since.end() ? Duration() : now.at - since->second,
                         paid);
  if (since != job.leased_since.end()) job.leased_since.erase(since);
  job.refused.erase(index);
  board.touch({.job = job.row.id, .index = index});
}

std::vector<JobId> Core::State::watched_jobs(std::size_t count) const {
  std::vector<std::pair<UnixMillis, JobId>> newest;
  newest.reserve(jobs.size());
  for (const auto& [id, job] : jobs) newest.emplace_back(job.row.created, id);
  const auto end = newest.begin() + static_cast<std::ptrdiff_t>(std::min(count, newest.size()));
  std::ranges::partial_sort(newest, end, std::greater());
  std::vector<JobId> ids;
  for (auto job = newest.begin(); job != end; ++job) ids.push_back(job->second);
  return ids;
}

watch::Job Core::State::watched_head(const JobId& id) const {
  const RunningJob& job = jobs.at(id);
  const auto leased = static_cast<std::uint32_t>(
      std::min<std::size_t>(job.leased.size(), job.row.tasks - job.accepted_count));
  watch::Job head;
  head.id = id.text();
  head.state = std::string(to_string(job.row.state));
  head.tasks = job.row.tasks;
  head.replicas = job.manifest->verify.replicas;
  head.counts = {job.row.tasks - job.accepted_count - leased, leased, 0, job.accepted_count, 0};
  head.refusals = job.refusals;
  head.price = job.row.price;
  head.units = job.row.units;
  head.created = job.row.created;
  return head;
}

watch::TaskState Core::State::watched_task(const TaskId& task) const {
  const RunningJob& job = jobs.at(task.job);
  if (job.accepted[task.index]) return watch::TaskState::accepted;
  if (job.refused.contains(task.index)) return watch::TaskState::refused;
  if (const auto found = job.delivered.find(task.index);
      found != job.delivered.end() && !found->second.empty())
    return watch::TaskState::checking;
  if (const auto found = job.leased.find(task.index);
      found != job.leased.end() && !found->second.empty())
    return watch::TaskState::leased;
  return watch::TaskState::waiting;
}

void Core::State::each_worker(const std::function<void(const WorkerNow&)>& use) const {
  for (const auto& [key, worker] : workers) {
    const auto load = scheduler.load(key);
    const auto reputation = trust.votes().reputation(key);
    const auto round_trip = parts.world.round_trip(worker.session);
    use({.key = key,
         .session = worker.session.number(),
         .held = load ? load->held : 0,
         .slots = worker.hello.slots,
         .accepted = reputation.accepted,
         .refused = reputation.refused,
         .rate = load ? load->rate : 0,
         .round_trip_ms = round_trip ? seconds(*round_trip) * 1000 : -1});
  }
}

watch::Worker Core::State::watched_worker(const PublicKey& key) const {
  const ConnectedWorker& worker = workers.at(key);
  const auto view = view_of(key, worker);
  return {.number = 0,
          .key = view.key,
          .kind = view.kind,
          .device = view.device,
          .description = view.description,
          .f32_gflop_per_s = view.f32_gflop_per_s,
          .since = view.since};
}

}  // namespace weft::jobs
