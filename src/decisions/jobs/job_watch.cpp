#include "decisions/jobs/job_watch.h"

#include <algorithm>
#include <utility>

#include "decisions/jobs/worker_view.h"
#include "decisions/scheduler/quote.h"

namespace weft::jobs {

namespace {
namespace watch = protocol::watch;
}

void JobWatch::watch(WatchWanted wanted, Moment now, Answer<WatchUpdate> answer) {
  WatchUpdate update{.delta = tables_.board.advance(*this, now.unix), .snapshot = {}};
  if (wanted == WatchWanted::snapshot_too) update.snapshot = tables_.board.snapshot();
  tables_.outbox.effect(
      [answer = std::move(answer), update = std::move(update)] { answer(update); });
}

void JobWatch::keep_history(Moment now) {
  if (!tables_.board.history.is_over(now.unix)) return;
  tables_.board.history.roll(now.unix,
                             {.workers = static_cast<std::uint32_t>(tables_.workers.size()),
                              .open = static_cast<std::uint32_t>(tables_.jobs.tasks_open()),
                              .per_unit = prices_.per_unit(now)});
}

void JobWatch::leased(RunningJob& job, std::uint32_t index, Moment now) {
  job.leased_since.try_emplace(index, now.at);
  tables_.board.touch({.job = job.row.id, .index = index});
}

void JobWatch::refused(const TaskId& task) {
  tables_.board.history.refused();
  auto* const job = tables_.jobs.find(task.job);
  if (job == nullptr || task.index >= job->accepted.size()) return;
  ++job->refusals;
  if (!job->accepted[task.index]) job->refused.insert(task.index);
  tables_.board.touch(task);
}

void JobWatch::accepted(RunningJob& job, std::uint32_t index, MicroCredits paid, Moment now) {
  const auto since = job.leased_since.find(index);
  tables_.board.history.accepted(
      since == job.leased_since.end() ? Duration() : now.at - since->second, paid);
  if (since != job.leased_since.end()) job.leased_since.erase(since);
  job.refused.erase(index);
  tables_.board.touch({.job = job.row.id, .index = index});
}

void JobWatch::corrected(const store::Job& row) {
  protocol::watch::Job head;
  head.id = row.id.text();
  head.state = std::string(to_string(store::JobState::corrected));
  head.tasks = row.tasks;
  head.counts = {0, 0, 0, row.accepted, 0};
  head.price = row.price;
  head.units = row.units;
  head.created = row.created;
  head.ended = row.ended;
  tables_.board.corrected(row.id, std::move(head));
}

std::vector<JobId> JobWatch::watched_jobs(std::size_t count) const {
  std::vector<std::pair<UnixMillis, JobId>> newest;
  newest.reserve(tables_.jobs.size());
  for (const auto& [id, job] : tables_.jobs.all()) newest.emplace_back(job.row.created, id);
  const auto end = newest.begin() + static_cast<std::ptrdiff_t>(std::min(count, newest.size()));
  std::ranges::partial_sort(newest, end, std::greater());
  std::vector<JobId> ids;
  for (auto job = newest.begin(); job != end; ++job) ids.push_back(job->second);
  return ids;
}

watch::Job JobWatch::watched_head(const JobId& id) const {
  const RunningJob& job = tables_.jobs.at(id);
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

watch::TaskState JobWatch::watched_task(const TaskId& task) const {
  const RunningJob& job = tables_.jobs.at(task.job);
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

void JobWatch::each_worker(const std::function<void(const WorkerNow&)>& use) const {
  for (const auto& [key, worker] : tables_.workers.all()) {
    const auto load = tables_.scheduler.views().load(key);
    const auto reputation = tables_.trust.votes().reputation(key);
    const auto round_trip = tables_.world.round_trip(worker.session);
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

watch::Worker JobWatch::watched_worker(const PublicKey& key) const {
  const ConnectedWorker& worker = tables_.workers.at(key);
  const auto view = worker_view(tables_, key, worker);
  return {.number = 0,
          .key = view.key,
          .kind = view.kind,
          .device = view.device,
          .description = view.description,
          .f32_gflop_per_s = view.f32_gflop_per_s,
          .since = view.since};
}

void JobWatch::ended(const JobId& job, const store::JobUpdate::End& end) {
  auto head = watched_head(job);
  head.state = std::string(to_string(end.state));
  head.ended = end.ended;
  tables_.board.ended(*this, job, std::move(head));
}

}  // namespace weft::jobs
