#include "decisions/dashboard/watch_board.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weft::dashboard {

namespace {

namespace watch = protocol::watch;

std::array<std::uint32_t, watch::task_states> counts_of(
    const std::vector<watch::TaskState>& tasks) {
  std::array<std::uint32_t, watch::task_states> counts{};
  for (const auto task : tasks) ++counts[static_cast<std::size_t>(task)];
  return counts;
}

void add_load(watch::Loads& loads, std::uint32_t number, const WatchSource::WorkerNow& worker) {
  loads.number.push_back(number);
  loads.held.push_back(worker.held);
  loads.slots.push_back(worker.slots);
  loads.accepted.push_back(worker.accepted);
  loads.refused.push_back(worker.refused);
  loads.rate.push_back(worker.rate);
  loads.round_trip_ms.push_back(worker.round_trip_ms);
}

}  // namespace

void WatchBoard::touch(const TaskId& task) {
  if (!watched_) return;
  const auto found = jobs_.find(task.job);
  if (found == jobs_.end() || !found->second.running) return;
  if (task.index >= found->second.tasks.size() || found->second.is_touched[task.index]) return;
  found->second.is_touched[task.index] = true;
  found->second.touched.push_back(task.index);
}

void WatchBoard::ended(const WatchSource& source, const JobId& id, watch::Job head) {
  // Without a watcher the board is not updated, so that its state of the job is out of date.
  if (const auto found = jobs_.find(id); found != jobs_.end() && !watched_) forget(found);
  Shown& job = jobs_.contains(id) ? jobs_.at(id) : show(source, id);
  look_again(source, id, job);
  // The job has ended, so that no worker runs its remaining tasks.
  for (std::uint32_t i = 0;
       i < job.tasks.size() && head.state != "done" && head.state != "corrected"; ++i) {
    if (job.tasks[i] != watch::TaskState::leased && job.tasks[i] != watch::TaskState::checking)
      continue;
    --job.head.counts[static_cast<std::size_t>(job.tasks[i])];
    ++job.head.counts[static_cast<std::size_t>(watch::TaskState::waiting)];
    job.tasks[i] = watch::TaskState::waiting;
    job.touched.push_back(i);
  }
  set_head(job, std::move(head));
  job.running = false;
  forget_ended(ended_max);
}

void WatchBoard::corrected(const JobId& id, watch::Job head) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) {
    Shown& job = jobs_[id];
    head.mapped = false;
    job.head = std::move(head);
    job.running = false;
    return forget_ended(ended_max);
  }
  watch::Job changed = found->second.head;
  changed.state = std::move(head.state);
  set_head(found->second, std::move(changed));
}

// Shows the job, with the present state of its tasks.
WatchBoard::Shown& WatchBoard::show(const WatchSource& source, const JobId& id) {
  watch::Job head = source.watched_head(id);
  Shown& job = jobs_[id];
  head.mapped = tasks_shown_ + head.tasks <= tasks_max;
  if (head.mapped) {
    job.tasks.resize(head.tasks);
    job.is_touched.resize(head.tasks);
    for (std::uint32_t i = 0; i < head.tasks; ++i)
      job.tasks[i] = source.watched_task({.job = id, .index = i});
    tasks_shown_ += head.tasks;
  }
  job.head = std::move(head);
  job.head.counts = job.head.mapped ? counts_of(job.tasks) : job.head.counts;
  return job;
}

void WatchBoard::look_again(const WatchSource& source, const JobId& id, Shown& job) {
  // Drops touched tasks whose state is still the reported one.
  std::erase_if(job.touched, [&](std::uint32_t index) {
    job.is_touched[index] = false;
    const auto state = source.watched_task({.job = id, .index = index});
    if (state == job.tasks[index]) return true;
    --job.head.counts[static_cast<std::size_t>(job.tasks[index])];
    ++job.head.counts[static_cast<std::size_t>(state)];
    job.tasks[index] = state;
    return false;
  });
  if (!job.touched.empty()) job.has_changed = true;
}

void WatchBoard::set_head(Shown& job, watch::Job head) {
  head.mapped = job.head.mapped;
  if (head.mapped) head.counts = job.head.counts;
  if (head == job.head) return;
  job.head = std::move(head);
  job.has_changed = true;
}

WatchBoard::Jobs::iterator WatchBoard::forget(Jobs::iterator job) {
  if (watched_ && !job->second.is_new) jobs_gone_.push_back(job->first.text());
  tasks_shown_ -= job->second.tasks.size();
  return jobs_.erase(job);
}

void WatchBoard::forget_ended(std::size_t kept_max) {
  std::vector<Jobs::iterator> over;
  for (auto job = jobs_.begin(); job != jobs_.end(); ++job) {
    if (!job->second.running) over.push_back(job);
  }
  if (over.size() <= kept_max) return;
  std::ranges::sort(over, {}, [](const auto& job) { return job->second.head.ended; });
  over.resize(over.size() - kept_max);
  for (const auto& job : over) forget(job);
}

watch::Delta WatchBoard::advance(const WatchSource& source, UnixMillis time) {
  watch::Delta delta;
  if (!watched_) {
    for (auto job = jobs_.begin(); job != jobs_.end();)
      job = job->second.running ? forget(job) : std::next(job);
    watched_ = true;
    workers_.clear();
    history_told_ = history.rows();
  }
  time_ = time;
  jobs_running_ = source.jobs_running();
  advance_jobs(source, delta);
  advance_workers(source, delta);
  delta.history = history.since(std::exchange(history_told_, history.rows()));
  if (!delta.empty()) ++sequence_;
  delta.sequence = sequence_;
  delta.time = time_;
  delta.jobs_running = jobs_running_;
  return delta;
}

void WatchBoard::advance_jobs(const WatchSource& source, watch::Delta& delta) {
  const auto newest = source.watched_jobs(jobs_max);
  const std::set<JobId> wanted(newest.begin(), newest.end());
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    job = job->second.running && !wanted.contains(job->first) ? forget(job) : std::next(job);
  }
  if (tasks_shown_ > tasks_max / 2) forget_ended(1);
  for (const auto& id : newest) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) {
      show(source, id);
      continue;
    }
    look_again(source, id, found->second);
    set_head(found->second, source.watched_head(id));
  }
  delta.jobs_gone = std::exchange(jobs_gone_, {});
  for (auto& [id, job] : jobs_) {
    if (!job.is_new && !job.has_changed) continue;
    watch::Job told = job.head;
    std::ranges::sort(job.touched);
    job.touched.erase(std::ranges::unique(job.touched).begin(), job.touched.end());
    if (job.head.mapped)
      told.map = job.is_new ? watch::map_of(job.tasks) : watch::map_of(job.tasks, job.touched);
    delta.jobs.push_back(std::move(told));
    job.touched.clear();
    job.is_new = false;
    job.has_changed = false;
  }
}

void WatchBoard::advance_workers(const WatchSource& source, watch::Delta& delta) {
  ++rounds_;
  source.each_worker([&](const WatchSource::WorkerNow& now) {
    auto found = workers_.find(now.key);
    if (found != workers_.end() && found->second.now.session != now.session) {
      delta.left.push_back(found->second.number);
      workers_.erase(found);
      found = workers_.end();
    }
    if (found == workers_.end()) {
      ShownWorker worker{.number = next_number_++,
                         .now = now,
                         .head = source.watched_worker(now.key),
                         .seen = rounds_};
      worker.head.number = worker.number;
      delta.joined.push_back(worker.head);
      add_load(delta.loads, worker.number, now);
      workers_.emplace(now.key, std::move(worker));
      return;
    }
    found->second.seen = rounds_;
    if (found->second.now == now) return;
    found->second.now = now;
    add_load(delta.loads, found->second.number, now);
  });
  std::erase_if(workers_, [&](const auto& worker) {
    if (worker.second.seen == rounds_) return false;
    delta.left.push_back(worker.second.number);
    return true;
  });
}

watch::Snapshot WatchBoard::snapshot() const {
  watch::Snapshot snapshot;
  snapshot.sequence = sequence_;
  snapshot.time = time_;
  snapshot.jobs_running = jobs_running_;
  for (const auto& [id, job] : jobs_) {
    auto& told = snapshot.jobs.emplace_back(job.head);
    if (job.head.mapped) told.map = watch::map_of(job.tasks);
  }
  std::ranges::sort(snapshot.jobs, std::greater(),
                    [](const auto& job) { return std::pair(job.created, job.id); });
  for (const auto& [key, worker] : workers_) {
    snapshot.workers.push_back(worker.head);
    add_load(snapshot.loads, worker.number, worker.now);
  }
  snapshot.history = history.since(0);
  return snapshot;
}

void WatchBoard::rest() {
  watched_ = false;
  jobs_gone_.clear();
  for (auto& [id, job] : jobs_) {
    for (const std::uint32_t index : job.touched) job.is_touched[index] = false;
    job.touched.clear();
  }
}

}  // namespace weft::dashboard
